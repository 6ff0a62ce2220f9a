import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/*
 * Garbage outside the heap of this thread, such as the memory of byte arrays. V8 lets 64 MiB of it gather in each thread before it
 * collects it.
 */

type Collect = (options?: { readonly type: 'minor' }) => void

/** V8 refuses compiled code of other starts, and that of Node's own modules, while the flag is set. */
const takeCollect = (): Collect => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  setFlagsFromString('--no-expose-gc')
  return collect
}

let taken: Collect | undefined
const collect: Collect = options => {
  taken ??= takeCollect()
  // With an argument, also undefined, V8 collects less.
  if (options === undefined) taken()
  else taken(options)
}

/** Node.js before 26 counts the room that WebAssembly reserves, half a gigabyte, as external memory. */
const COUNTS_ROOM = Number.parseInt(process.versions.node, 10) < 26

/** Memory of this thread outside the heap; in other Node.js, in which suites run chains, of byte arrays alone. */
export const externalBytes = (): number =>
  COUNTS_ROOM ? process.memoryUsage().arrayBuffers : getHeapStatistics().external_memory

/** Growth of the memory outside the heap after which it is collected. */
const MAX_GROWTH_BYTES = 16 * 1024 * 1024

/** Collects garbage when the memory outside the heap has grown since the last time. */
export class ExternalGarbage {
  readonly #collect: () => void
  readonly #externalBytes: () => number
  /** Memory outside the heap that the last collection left. */
  #keptBytes = 0

  constructor(collect: () => void, bytes = externalBytes) {
    this.#collect = collect
    this.#externalBytes = bytes
  }

  check(): void {
    const bytes = this.#externalBytes()
    // Memory may be given back some time after its collection.
    this.#keptBytes = Math.min(this.#keptBytes, bytes)
    if (bytes > this.#keptBytes + MAX_GROWTH_BYTES) this.collect()
  }

  collect(): void {
    this.#collect()
    this.#keptBytes = this.#externalBytes()
  }
}

const all = new ExternalGarbage(() => collect())
const young = new ExternalGarbage(() => collect({ type: 'minor' }))

/** Collects all garbage of this thread: tens of milliseconds, so not for the main thread. */
export const collectGarbage = (): void => all.collect()

/** Collects all garbage when it has grown; called between pieces of work of a worker thread. */
export const collectExternalGarbage = (): void => all.check()

/** Collects recent garbage when it has grown: a few milliseconds, so for the main thread. */
export const collectYoungGarbage = (): void => young.check()
