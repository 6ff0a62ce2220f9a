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

/** Compiled once per thread, however many instances are made. */
const modules = new Map<string, object>()

/** A new instance of a module of a few kilobytes, at once, without a promise. `Exports` is the caller's word for what it offers. */
export const loadWasm = <Exports>(url: URL, imports?: object): Exports => {
  let module = modules.get(url.href)
  if (module === undefined) {
    module = new WebAssembly.Module(readFileSync(url))
    modules.set(url.href, module)
  }
  return new WebAssembly.Instance(module, imports).exports as Exports
}
