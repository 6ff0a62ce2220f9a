/*
 * Counts what built-in collections copy and walk through while something runs: a measure of work without a clock. Bytes count as
 * 32-byte words. Patches prototypes for the time of the run, so nothing else may run beside it.
 */

type Method = (this: { readonly length?: number; readonly size?: number }, ...args: never[]) => unknown

interface Patched {
  readonly prototype: object
  readonly name: string | symbol
  /** Items that one call goes through. */
  items(self: never, args: readonly never[]): number
}

const sizeOf = (self: { size: number }): number => self.size
type Sized = { readonly length: number }
const lengthOf = (self: Sized): number => self.length
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object
const words = (bytes: number): number => bytes / 32

const PATCHED: readonly Patched[] = [
  { prototype: Map.prototype, name: Symbol.iterator, items: sizeOf },
  { prototype: Map.prototype, name: 'keys', items: sizeOf },
  { prototype: Map.prototype, name: 'values', items: sizeOf },
  { prototype: Map.prototype, name: 'forEach', items: sizeOf },
  { prototype: Set.prototype, name: Symbol.iterator, items: sizeOf },
  { prototype: Set.prototype, name: 'forEach', items: sizeOf },
  { prototype: Array.prototype, name: Symbol.iterator, items: lengthOf },
  { prototype: Array.prototype, name: 'concat', items: lengthOf },
  { prototype: Array.prototype, name: 'slice', items: lengthOf },
  { prototype: Array.prototype, name: 'splice', items: (self: unknown[], [from = 0]) => self.length - from },
  { prototype: Array.prototype, name: 'map', items: lengthOf },
  { prototype: Array.prototype, name: 'filter', items: lengthOf },
  { prototype: Array.prototype, name: 'fill', items: lengthOf },
  { prototype: typedArray, name: 'set', items: (_, [source]) => words(lengthOf(source as unknown as Sized)) },
  { prototype: typedArray, name: 'slice', items: (self: Sized) => words(self.length) },
  { prototype: typedArray, name: 'fill', items: (self: Sized) => words(self.length) },
]

/** Items that were copied or walked through until the promise was kept. */
export const countWork = async (run: () => Promise<unknown>): Promise<number> => {
  let work = 0
  const originals = PATCHED.map(({ prototype, name, items }) => {
    const original = Reflect.get(prototype, name) as Method
    const counting: Method = function (...args) {
      work += items(this as never, args)
      return original.apply(this, args)
    }
    Reflect.set(prototype, name, counting)
    return { prototype, name, original }
  })
  try {
    await run()
  } finally {
    for (const { prototype, name, original } of originals) Reflect.set(prototype, name, original)
  }
  return Math.round(work)
}
