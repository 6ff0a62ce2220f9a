import { parentPort, threadId } from 'node:worker_threads'
import { CodedError } from '@tandem/base/errors.ts'
import {
  type ServedCall,
  type ServeOptions,
  serveWorker,
  Transferred,
  workerStartData,
} from '@tandem/base/worker/serve-worker.ts'

/* Worker for tests of the protocol. Its data are the options with which it serves. */

/** Methods as their callers see them. */
export type TestMethods = {
  readonly echo: (value: unknown) => unknown
  readonly thread: () => number
  readonly later: (ms: number) => Promise<number>
  readonly refuse: (reason: string) => never
  readonly fail: () => never
  readonly unclonable: () => unknown
  readonly exit: () => never
  readonly exitFirst: (shared: SharedArrayBuffer) => number
  readonly throwOutside: () => Promise<never>
  readonly memoryBehind: (bytes: Uint8Array) => number
  readonly moved: (size: number) => Uint8Array
  readonly messages: () => number
  readonly hold: (shared: SharedArrayBuffer) => void
  readonly untilCancelled: () => Promise<string>
  readonly count: (chunks: number, credits: number) => Promise<void>
  readonly chunkThenExit: () => never
  readonly chunkThenHang: () => never
}

let messages = 0
parentPort?.on('message', () => messages++)

const count = async (chunks: number, credits: number, call: ServedCall): Promise<void> => {
  let free = credits
  let wake = () => {}
  call.onCredit(() => {
    free++
    wake()
  })
  call.onCancel(() => wake())
  for (let i = 0; i < chunks && !call.isCancelled; i++) {
    while (free === 0 && !call.isCancelled) {
      await new Promise<void>(resolve => {
        wake = resolve
      })
    }
    free--
    call.sendChunk(Uint8Array.of(i))
  }
}

serveWorker<TestMethods>(
  {
    echo: value => value,
    thread: () => threadId,
    later: ms => new Promise<number>(resolve => setTimeout(resolve, ms, ms)),
    refuse: reason => {
      throw new CodedError({ code: 'REFUSED', reason, limit: 7n })
    },
    fail: () => {
      throw new Error('not foreseen')
    },
    unclonable: () => () => 1,
    exit: () => process.exit(3),
    exitFirst: shared => {
      const earlier = Atomics.add(new Int32Array(shared), 0, 1)
      return earlier === 0 ? process.exit(3) : earlier
    },
    throwOutside: () => {
      setImmediate(() => {
        throw new Error('outside')
      })
      return new Promise<never>(() => {})
    },
    memoryBehind: bytes => bytes.buffer.byteLength,
    moved: size => {
      const bytes = new Uint8Array(size).fill(7)
      return new Transferred(bytes, [bytes])
    },
    messages: () => messages,
    hold: shared => void Atomics.wait(new Int32Array(shared), 0, 0),
    untilCancelled: call => new Promise<string>(resolve => call.onCancel(() => resolve('cancelled'))),
    count,
    chunkThenExit: call => {
      call.sendChunk(Uint8Array.of(1))
      return process.exit(3)
    },
    chunkThenHang: call => {
      call.sendChunk(Uint8Array.of(1))
      for (;;);
    },
  },
  workerStartData<ServeOptions | undefined>(),
)
