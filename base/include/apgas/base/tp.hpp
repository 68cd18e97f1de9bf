#pragma once
#include <apgas/base/api.hpp>
#include <apgas/base/cycles.hpp>
namespace apgas { constexpr unsigned tp_cap=100000; APGAS_API extern unsigned long long tp_at[16][tp_cap]; APGAS_API extern unsigned long long tp_n[16]; }
#define TP(i) (apgas::tp_at[i][apgas::tp_n[i]++ % apgas::tp_cap] = apgas::base::cycles())
