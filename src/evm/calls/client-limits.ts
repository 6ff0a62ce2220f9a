import { CodedError } from '@tandem/base/errors.ts'
import { CALL_LIMITS } from '../../config/limits/clients.ts'
import type { CallMessage, StateOverrides } from './message/call-args.ts'
import type { CallError } from './types.ts'
import type { CallJobRequest } from './worker/worker-protocol.ts'

/** Memory of a slot, a key or an account besides its bytes. */
const ENTRY_BYTES = 256

const slotsOf = (slots: object | undefined): number => (slots === undefined ? 0 : Object.keys(slots).length)

const messageWeight = ({ data, accessList = [] }: CallMessage): number => {
  let bytes = ENTRY_BYTES + data.byteLength
  for (const { storageKeys } of accessList) bytes += ENTRY_BYTES * (1 + storageKeys.length)
  return bytes
}

const overridesWeight = (overrides: StateOverrides): number => {
  let bytes = 0
  for (const { code, state, stateDiff } of Object.values(overrides))
    bytes += ENTRY_BYTES * (1 + slotsOf(state) + slotsOf(stateDiff)) + (code?.byteLength ?? 0)
  return bytes
}

/** Approximate memory of a waiting request. */
export const requestBytes = (request: CallJobRequest): number => {
  if (!('blocks' in request)) return messageWeight(request.message) + overridesWeight(request.overrides ?? {})
  let bytes = 0
  for (const { state, calls } of request.blocks) {
    bytes += ENTRY_BYTES + overridesWeight(state)
    for (const call of calls) bytes += messageWeight(call)
  }
  return bytes
}

export const QUEUE_FULL: CallError = { code: 'CALL_QUEUE_FULL', limit: CALL_LIMITS.queue }
const CLIENT_FULL: CallError = { code: 'CLIENT_QUEUE_FULL', limit: CALL_LIMITS.clientCalls }

interface Load {
  calls: number
  bytes: number
}

/** Waiting and running requests per client and in total, counted from their arrival. */
export class ClientLimits {
  readonly #clients = new Map<string, Load>()
  #bytes = 0

  callsOf(client: string): number {
    return this.#clients.get(client)?.calls ?? 0
  }

  /** Throws CLIENT_QUEUE_FULL and CALL_QUEUE_FULL. */
  add(client: string, bytes: number): void {
    const load = this.#clients.get(client) ?? { calls: 0, bytes: 0 }
    // A single request is accepted whatever its size, which is limited on receipt.
    const isTooLarge = load.bytes > 0 && load.bytes + bytes > CALL_LIMITS.clientBytes
    if (load.calls >= CALL_LIMITS.clientCalls || isTooLarge) throw new CodedError(CLIENT_FULL)
    if (this.#bytes > 0 && this.#bytes + bytes > CALL_LIMITS.queueBytes) throw new CodedError(QUEUE_FULL)
    load.calls++
    load.bytes += bytes
    this.#bytes += bytes
    this.#clients.set(client, load)
  }

  remove(client: string, bytes: number): void {
    const load = this.#clients.get(client)
    if (load === undefined) return
    load.calls--
    load.bytes -= bytes
    this.#bytes -= bytes
    if (load.calls === 0) this.#clients.delete(client)
  }
}
