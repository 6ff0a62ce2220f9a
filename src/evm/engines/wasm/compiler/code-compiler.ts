import type { EvmFork } from '../../../../config/forks.ts'
import { compileModule, type WasmModule } from '../../../../crypto/wasm/wasm.ts'
import type { Hex } from '../../../../util/bytes.ts'
import { compileCode } from './compile.ts'
import type { Addresses } from './layout.ts'

/** Code to compile for a fork. */
export interface CodeRequest {
  readonly hash: Hex
  readonly fork: EvmFork
  readonly bytes: Uint8Array
  readonly addresses: Addresses
}

/** Machine that may hold instances of compiled codes. */
export interface CodeHolder {
  /** Drops the instance of a code. */
  remove(hash: Hex, fork: EvmFork): void
}

/** Compiled codes of a thread, by hash and fork. */
export interface CodeCompiler {
  /** Interpreted gas from which a code is compiled; 0: as it is loaded. */
  readonly hotFrom: bigint
  /** Times that a code of this size must become hot before it is compiled. */
  timesHot(size: number): number
  find(hash: Hex, fork: EvmFork): WasmModule | undefined
  /** Compiles, or ignores the request. `done` is called where a module comes of it. */
  request(request: CodeRequest, done: (module: WasmModule) => void): void
  add(holder: CodeHolder): void
  delete(holder: CodeHolder): void
}

/** Compiles every code in this thread as it is loaded, and keeps none: for tests. */
export const createImmediateCompiler = (): CodeCompiler => ({
  hotFrom: 0n,
  timesHot: () => 1,
  find: () => undefined,
  request({ bytes, fork, addresses }, done) {
    const compiled = compileCode(bytes, fork, addresses)
    if (compiled !== undefined) done(compileModule(compiled.module))
  },
  add() {},
  delete() {},
})
