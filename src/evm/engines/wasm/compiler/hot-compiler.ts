import type { EvmFork } from '../../../../config/forks.ts'
import type { WasmModule } from '../../../../crypto/wasm/wasm.ts'
import type { Hex } from '../../../../util/bytes.ts'
import { TokenBucket } from '../../../../util/token-bucket.ts'
import { WorkerPool } from '../../../../util/worker/worker-pool.ts'
import { compilerCounts } from '../../engine-counts.ts'
import type { CodeCompiler, CodeHolder, CodeRequest } from './code-compiler.ts'
import type { CompileMethods } from './compile-worker.ts'

const COMPILER_LIMITS = {
  /** Interpreted gas from which a code of up to `hotBytes` is hot, and of larger ones for each such part. */
  hotGas: 5_000_000n,
  hotBytes: 1_024,
  /** Compiled codes of a thread; the oldest one goes first. */
  modules: 64,
  /** Their size in WebAssembly; machine code takes several times as much. */
  moduleBytes: 4 * 1024 * 1024,
  /**
   * Size in WebAssembly of what is compiled in a second, and at once: a megabyte takes V8 a second or more in its threads, whoever
   * makes codes hot.
   */
  bytesPerSecond: 64 * 1024,
  burstBytes: 1024 * 1024,
  /** Codes that wait for the worker. A request beyond them is ignored, and comes again with the next gas of the code. */
  waiting: 8,
  /** Hashes of codes that cannot be compiled. */
  refused: 1_024,
  /** Idle time after which the worker is stopped. */
  idleMs: 10_000,
  /** Silence after which the worker is stopped and its code refused: processor time, and passed time. */
  stuckMs: 5_000,
  blockedMs: 60_000,
} as const

type Limits = {
  readonly [Name in keyof typeof COMPILER_LIMITS]: (typeof COMPILER_LIMITS)[Name] extends bigint ? bigint : number
}

type Key = `${EvmFork} ${Hex}`
const keyOf = (hash: Hex, fork: EvmFork): Key => `${fork} ${hash}`

interface Compiled {
  readonly hash: Hex
  readonly fork: EvmFork
  readonly module: WasmModule
  readonly bytes: number
}

/** Compiles hot codes in a worker of this thread, one after the other, and keeps the newest. */
class HotCompiler implements CodeCompiler {
  readonly hotFrom: bigint
  readonly #limits: Limits
  readonly #compiled = new Map<Key, Compiled>()
  readonly #waiting = new Map<Key, ((module: WasmModule) => void)[]>()
  readonly #refused = new Set<Key>()
  readonly #holders = new Set<CodeHolder>()
  /** Size of what may be compiled now. */
  readonly #budget: TokenBucket
  #bytes = 0
  /** Number of codes compiled or refused so far. */
  compilations = 0
  readonly #worker: WorkerPool<CompileMethods>

  constructor(limits: Limits) {
    this.#limits = limits
    this.hotFrom = limits.hotGas
    this.#budget = new TokenBucket({ perSecond: limits.bytesPerSecond, burst: limits.burstBytes }, performance.now())
    this.#worker = new WorkerPool<CompileMethods>({
      name: 'evm-compiler',
      url: new URL('./compile-worker.ts', import.meta.url),
      inFlight: 1,
      queue: limits.waiting,
      idleMs: limits.idleMs,
      heartbeat: { everyMs: 1_000, stuckMs: limits.stuckMs, blockedMs: limits.blockedMs },
    })
  }

  timesHot(size: number): number {
    return Math.max(1, Math.ceil(size / this.#limits.hotBytes))
  }

  find(hash: Hex, fork: EvmFork): WasmModule | undefined {
    return this.#compiled.get(keyOf(hash, fork))?.module
  }

  request(request: CodeRequest, done: (module: WasmModule) => void): void {
    const { hash, fork } = request
    const key = keyOf(hash, fork)
    const known = this.#compiled.get(key)
    if (known !== undefined) {
      done(known.module)
      return
    }
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) {
      waiting.push(done)
      return
    }
    if (this.#refused.has(key)) return
    if (this.#waiting.size >= this.#limits.waiting || !this.#budget.hasTokens(performance.now())) {
      compilerCounts.dropped++
      return
    }
    this.#waiting.set(key, [done])
    void this.#compile(key, request)
  }

  async #compile(key: Key, request: CodeRequest): Promise<void> {
    try {
      const { compiled, ms } = await this.#worker.call('compile', request)
      compilerCounts.compileMs += ms
      this.#budget.charge(performance.now(), compiled?.bytes ?? request.bytes.byteLength)
      if (compiled === undefined) this.#refuse(key)
      else this.#keep(key, { ...compiled, hash: request.hash, fork: request.fork })
    } catch {
      // The worker ended, for lack of memory perhaps: the code stays interpreted.
      this.#refuse(key)
    }
    const module = this.#compiled.get(key)?.module
    const waiting = this.#waiting.get(key) ?? []
    this.#waiting.delete(key)
    if (module !== undefined) for (const done of waiting) done(module)
    this.compilations++
  }

  #refuse(key: Key): void {
    compilerCounts.refused++
    this.#refused.add(key)
    const [oldest] = this.#refused
    if (this.#refused.size > this.#limits.refused && oldest !== undefined) this.#refused.delete(oldest)
  }

  #keep(key: Key, compiled: Compiled): void {
    compilerCounts.compiled++
    this.#compiled.set(key, compiled)
    this.#count(1, compiled.bytes)
    for (const [oldest, { hash, fork, bytes }] of this.#compiled) {
      if (this.#compiled.size <= this.#limits.modules && this.#bytes <= this.#limits.moduleBytes) return
      this.#compiled.delete(oldest)
      this.#count(-1, -bytes)
      compilerCounts.evicted++
      for (const holder of this.#holders) holder.remove(hash, fork)
    }
  }
  #count(codes: number, bytes: number): void {
    this.#bytes += bytes
    compilerCounts.codes += codes
    compilerCounts.bytes += bytes
  }

  add(holder: CodeHolder): void {
    this.#holders.add(holder)
  }
  delete(holder: CodeHolder): void {
    this.#holders.delete(holder)
  }

  /** Number and size of the compiled codes. */
  get size(): { readonly modules: number; readonly bytes: number } {
    return { modules: this.#compiled.size, bytes: this.#bytes }
  }
  close(): Promise<void> {
    this.#count(-this.#compiled.size, -this.#bytes)
    this.#compiled.clear()
    return this.#worker.close()
  }
}

export type { HotCompiler }
export const createHotCompiler = (limits: Partial<Limits> = {}): HotCompiler =>
  new HotCompiler({ ...COMPILER_LIMITS, ...limits })
