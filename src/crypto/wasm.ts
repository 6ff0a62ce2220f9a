import { readFileSync } from 'node:fs'

/** The slice of the WebAssembly API used here; the compiler's own declarations come only with the browser's. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports?: object) => { readonly exports: unknown }
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer
}

const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyApi }

/** Compiles a module of a few kilobytes and makes an instance at once, without a promise. `Exports` is the caller's word for what it offers. */
export const loadWasm = <Exports>(url: URL, imports?: object): Exports =>
  new WebAssembly.Instance(new WebAssembly.Module(readFileSync(url)), imports).exports as Exports
