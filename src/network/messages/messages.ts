import { CONSENSUS_MESSAGES } from './consensus-messages.ts'
import { CONTROL_MESSAGES } from './control-messages.ts'
import type { MessageSpec } from './message-spec.ts'
import { SYNC_MESSAGES } from './sync-messages.ts'
import { TRANSACTION_MESSAGES } from './transaction-messages.ts'

/** Version of the messages and their meaning; nodes of different versions do not connect. */
export const NETWORK_PROTOCOL_VERSION = 6

/** Declarations of all messages by name (docs/how-to/add-a-peer-message.md). */
export const MESSAGES = {
  ...CONTROL_MESSAGES,
  ...CONSENSUS_MESSAGES,
  ...SYNC_MESSAGES,
  ...TRANSACTION_MESSAGES,
} as const satisfies Record<string, MessageSpec<unknown>>

export type MessageName = keyof typeof MESSAGES
/** Payload type of a message. */
export type Payload<Name extends MessageName> = (typeof MESSAGES)[Name] extends MessageSpec<infer T> ? T : never

/** Requests with their responses. */
export const ANSWER_NAMES = {
  ping: 'pong',
  getRecords: 'records',
  getBlocks: 'blocks',
  getReceipts: 'receipts',
  getManifest: 'manifest',
  getChunk: 'chunk',
  getCodes: 'codes',
  getTransactions: 'transactions',
} as const satisfies Partial<Record<MessageName, MessageName>>
export type RequestName = keyof typeof ANSWER_NAMES
export const isRequest = (name: MessageName): name is RequestName => Object.hasOwn(ANSWER_NAMES, name)
export type AnswerName<Name extends RequestName> = Payload<(typeof ANSWER_NAMES)[Name]>

const BY_ID = new Map<number, MessageName>(Object.entries(MESSAGES).map(([name, { id }]) => [id, name as MessageName]))

/** Returns undefined when no message has this id. */
export const messageFromId = (id: number): MessageName | undefined => BY_ID.get(id)

/** Returns the declaration without the type of its payload. */
export const messageSpec = (name: MessageName): MessageSpec<unknown> => MESSAGES[name] as MessageSpec<unknown>
