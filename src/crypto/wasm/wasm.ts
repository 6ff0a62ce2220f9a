import { getOrMake } from '@tandem/base/get-or-make.ts'
import { readOwnFile } from '@tandem/base/own-files.ts'

/** Part of the WebAssembly API used here; the compiler's own declarations come only with the DOM library. */
interface WebAssemblyApi {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object, imports?: object) => { readonly exports: unknown }
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer
}

/** Exported constant. */
export interface WasmConstant {
  readonly value: number
}

const { WebAssembly } = globalThis as unknown as { WebAssembly: WebAssemblyApi }

/** Compiled once per thread, however many instances are created. */
const modules = new Map<string, object>()

/** Instantiates a module of a few kilobytes synchronously. `Exports` is not checked. */
export const loadWasm = <Exports>(url: URL, imports?: object): Exports => {
  const module = getOrMake(modules, url.href, () => new WebAssembly.Module(readOwnFile(url)))
  return new WebAssembly.Instance(module, imports).exports as Exports
}
