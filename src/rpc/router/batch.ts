import { Cancellation } from '@tandem/base/async/cancellation.ts'
import { composeStream, type ReadSource } from '@tandem/base/async/chunk-stream.ts'
import type { MaybePromise } from '@tandem/base/async/maybe-promise.ts'
import { sliceOver } from '@tandem/base/async/time-slice.ts'
import type { Meter } from '@tandem/base/client-budget.ts'
import { RPC_LIMITS } from '../../config/limits/clients.ts'
import { RESPONSE_TOO_LARGE, type RpcError } from '../errors.ts'
import { answersFull } from './budgets.ts'
import { bytesHeldBy, ChunkedText, type ResponseChunk, type ResponseStream, type RpcResponse } from './response.ts'

/** Requests of one batch that run at a time. */
const LANES = 16

interface BatchOptions {
  readonly size: number
  /** Owner of its work. */
  readonly client: string
  /** Handles the request at an index; `cancellation` ends with the batch. */
  readonly run: (index: number, cancellation: Cancellation) => MaybePromise<RpcResponse>
  /** Returns the error response to it; '' for a notification. */
  readonly refuse: (index: number, error: RpcError) => string
  /** Charged with the bytes of responses that are made and not read. */
  readonly meter: Meter
  /** The batch ends with its connection. */
  readonly connection: Cancellation | undefined
}

/** Run of one batch: requests start in order, several at a time, while few bytes wait; the responses are one JSON list in chunks. */
export class BatchRun {
  readonly #options: BatchOptions
  readonly #responses: (RpcResponse | undefined)[]
  /** Ends running requests when the batch is over, or refused as too large. */
  readonly #cancellation = new Cancellation()
  /** Set after the subscription: a connection that has ended already ends the batch while it is made. */
  #forgetConnection: () => void = () => {}
  #next = 0
  #running = 0
  #done = 0
  /** Bytes of all responses so far, and of the unread ones. */
  #madeBytes = 0
  #heldBytes = 0
  #hasStreams = false
  /** Why the rest is not run. */
  #refusal: RpcError | undefined
  #isOver = false
  /** Called at each response, and at the end. */
  #onArrival: (() => void) | undefined

  constructor(options: BatchOptions) {
    this.#options = options
    this.#responses = new Array(options.size)
    this.#forgetConnection = options.connection?.onCancel(() => this.#end()) ?? this.#forgetConnection
  }

  /** Returns the whole response when it is short, else a stream. Most batches hold only synchronous requests and need no promise. */
  respond(): MaybePromise<RpcResponse> {
    const { size, client } = this.#options
    while (this.#mayRun) {
      const index = this.#next++
      const response = this.#run(index)
      if (response instanceof Promise) {
        this.#running++
        void this.#lane({ index, response })
        return this.#whenBegun()
      }
      this.#take(index, response)
      if (this.#next < size && sliceOver(client) !== undefined) return this.#whenBegun()
    }
    return this.#response()
  }

  async #whenBegun(): Promise<RpcResponse> {
    this.#refill()
    while (this.#done < this.#options.size && !this.#isFull && !this.#isOver) await this.#arrival()
    return this.#response()
  }

  get #isFull(): boolean {
    return this.#heldBytes > RPC_LIMITS.batchAheadBytes
  }

  get #mayRun(): boolean {
    return this.#next < this.#options.size && !this.#isFull && !this.#isOver
  }

  #arrival(): Promise<void> {
    return new Promise(resolve => {
      this.#onArrival = resolve
    })
  }

  /** Starts as many lanes as there is work and room for. */
  #refill(): void {
    while (this.#running < LANES && this.#mayRun) {
      this.#running++
      void this.#lane()
    }
  }

  /** Handles requests one after the other. Lanes that only await promises would never yield to the event loop: all share one time slice. */
  async #lane(first?: { readonly index: number; readonly response: Promise<RpcResponse> }): Promise<void> {
    if (first !== undefined) this.#take(first.index, await first.response)
    while (this.#mayRun) {
      const pause = sliceOver(this.#options.client)
      if (pause !== undefined) {
        await pause
        continue
      }
      const index = this.#next++
      const response = this.#run(index)
      this.#take(index, response instanceof Promise ? await response : response)
    }
    this.#running--
  }

  /** Requests after the response that exceeded the limit are not run. */
  #run(index: number): MaybePromise<RpcResponse> {
    const { run, refuse } = this.#options
    return this.#refusal === undefined ? run(index, this.#cancellation) : refuse(index, this.#refusal)
  }

  #take(index: number, rpcResponse: RpcResponse): void {
    if (this.#isOver) {
      cancelStream(rpcResponse)
      return
    }
    const bytes = bytesHeldBy(rpcResponse)
    this.#madeBytes += bytes
    if (this.#madeBytes > RPC_LIMITS.answerBytes) this.#refuse(RESPONSE_TOO_LARGE)
    else if (!this.#options.meter.hold(this.#heldBytes + bytes)) this.#refuse(answersFull())
    const kept = this.#settled(index, rpcResponse)
    this.#responses[index] = kept
    this.#heldBytes += bytesHeldBy(kept)
    this.#hasStreams ||= typeof kept !== 'string'
    this.#done++
    this.#onArrival?.()
  }

  #settled(index: number, rpcResponse: RpcResponse): RpcResponse {
    if (rpcResponse === '' || this.#refusal === undefined) return rpcResponse
    cancelStream(rpcResponse)
    return this.#options.refuse(index, this.#refusal)
  }

  #refuse(error: RpcError): void {
    this.#refusal ??= error
    this.#cancellation.cancel()
  }

  #response(): RpcResponse {
    if (this.#isOver) return ''
    const isWhole = this.#done === this.#options.size && !this.#hasStreams
    if (!isWhole || this.#heldBytes > RPC_LIMITS.chunkChars) return this.#stream()
    const sent = this.#responses.filter(response => response !== '')
    this.#end()
    return sent.length === 0 ? '' : `[${sent.join(',')}]`
  }

  /** The batch itself accounts for its bytes. */
  #stream(): ResponseStream {
    const stream = composeStream<ResponseChunk>(readSource => this.#read(readSource))
    return {
      next: () => (this.#isOver ? Promise.resolve(undefined) : stream.next()),
      cancel: () => {
        stream.cancel()
        this.#end()
      },
    }
  }

  async *#read(readSource: ReadSource<ResponseChunk>): AsyncGenerator<ResponseChunk> {
    const text = new ChunkedText()
    let separator = '['
    for (let index = 0; index < this.#options.size; index++) {
      while (this.#responses[index] === undefined && !this.#isOver) {
        yield* text.rest()
        this.#refill()
        if (this.#responses[index] === undefined && !this.#isOver) await this.#arrival()
      }
      if (this.#isOver) return
      const response = this.#responses[index] as RpcResponse
      if (response === '') continue
      const bytes = bytesHeldBy(response)
      yield* text.add(separator)
      separator = ','
      if (typeof response === 'string') yield* text.add(response)
      else {
        yield* text.rest()
        yield* readSource(response)
      }
      this.#release(index, bytes)
    }
    yield* text.add(']')
    yield* text.rest()
    this.#end()
  }

  #release(index: number, bytes: number): void {
    if (this.#isOver) return
    this.#responses[index] = ''
    this.#heldBytes -= bytes
    this.#options.meter.hold(this.#heldBytes)
    this.#refill()
  }

  /** Everything was read, or the batch was cancelled: nothing further runs, and nothing is held. */
  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#cancellation.cancel()
    for (const response of this.#responses.splice(0)) if (response !== undefined) cancelStream(response)
    this.#heldBytes = 0
    this.#options.meter.hold(0)
    this.#forgetConnection()
    this.#onArrival?.()
  }
}

const cancelStream = (rpcResponse: RpcResponse): void => {
  if (typeof rpcResponse !== 'string') rpcResponse.cancel()
}
