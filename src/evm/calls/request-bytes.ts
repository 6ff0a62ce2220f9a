import type { CallMessage, StateOverrides } from './message/call-args.ts'
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
