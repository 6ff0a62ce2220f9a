import { bytesToHex, type Hex, hexToBytes, toQuantity, toWord } from '@tandem/base/bytes.ts'
import { parseJsonObject } from '@tandem/base/text.ts'
import { PROOF_SEEDS } from '../../../crypto/proof-hash.ts'
import type { ProofTemplate } from '../../../primitives/proof-header.ts'
import { type Refusal, STRATUM_CODES } from './refusals.ts'
import { difficultyOfTarget } from './share-target.ts'

/** One request of a miner. */
export interface StratumRequest {
  readonly id: string | number | null
  readonly method: string
  readonly params: readonly unknown[]
  /** Name of the worker that some getwork clients send beside the parameters. */
  readonly worker: string | undefined
}

const MAX_PARAMS = 8
const MAX_TEXT = 128

/** Parses a line; undefined when it is no request. */
export const parseStratumRequest = (line: string): StratumRequest | undefined => {
  const { id = null, method, params = [], worker } = parseJsonObject(line) ?? {}
  if (typeof method !== 'string' || method.length > MAX_TEXT || !isId(id)) return undefined
  if (!Array.isArray(params) || params.length > MAX_PARAMS) return undefined
  return { id, method, params, worker: typeof worker === 'string' ? worker : undefined }
}

const isId = (id: unknown): id is string | number | null =>
  id === null || (typeof id === 'number' && Number.isFinite(id)) || (typeof id === 'string' && id.length <= MAX_TEXT)

/** Job of one connection. */
export interface StratumJob {
  readonly id: string
  readonly sealHash: Hex
  readonly template: ProofTemplate
  readonly shareTarget: bigint
  /** Expected hashes of one share. */
  readonly hashes: number
}

/** Job as it is announced to one connection; `clean`: shares of earlier jobs are refused from now on. */
export type AnnouncedJob = StratumJob & { readonly clean: boolean }

/** Share as a miner submits it. */
export interface Submission {
  /** Job id, or the seal hash of the job. */
  readonly job: string
  /** 8 bytes. */
  readonly nonce: Uint8Array
  /** Undefined where the miner does not send it: the server computes it. */
  readonly mixHash: Uint8Array | undefined
  /** User as given; undefined where the connection has only one. */
  readonly user: unknown
}

type Id = StratumRequest['id']

/** Wire format of one kind of client. */
export interface StratumDialect {
  readonly name: 'EthereumStratum/1.0.0' | 'stratum' | 'getwork'
  /** Response to the first request of `mining.subscribe`; undefined where there is none. */
  subscribed(session: string, prefix: Uint8Array): unknown
  /** Messages for a new job; `isNewTarget`: the share target differs from that of the job before. */
  announce(job: AnnouncedJob, isNewTarget: boolean): readonly object[]
  result(id: Id, result: unknown): object
  error(id: Id, refusal: Refusal): object
  /** Returns undefined for malformed parameters. */
  submission(params: readonly unknown[], prefix: Uint8Array): Submission | undefined
}

const bare = (hex: Hex): string => hex.slice(2)
const seedOf = (version: number): Hex => bytesToHex(PROOF_SEEDS[version === 2 ? 1 : 0])

/** Hex digits of so many bytes, with or without 0x; undefined for anything else. */
const bytesFrom = (value: unknown, size: number): Uint8Array | undefined => {
  if (typeof value !== 'string') return undefined
  const digits = value.replace(/^0x/, '')
  return digits.length === 2 * size && /^[0-9a-fA-F]*$/.test(digits) ? hexToBytes(`0x${digits}`) : undefined
}

/** Whole nonce of a miner that may write it as a number, without leading zeros. */
const nonceFrom = (value: unknown): Uint8Array | undefined => {
  const digits = typeof value === 'string' ? value.replace(/^0x/, '') : ''
  return digits === '' ? undefined : bytesFrom(digits.padStart(2 * NONCE_BYTES, '0'), NONCE_BYTES)
}

const NONCE_BYTES = 8

const submissionOf = (
  user: unknown,
  job: unknown,
  parts: readonly (Uint8Array | undefined)[],
  mix: unknown,
): Submission | undefined => {
  const mixHash = mix === undefined ? undefined : (bytesFrom(mix, 32) ?? null)
  if (typeof job !== 'string' || mixHash === null || parts.includes(undefined)) return undefined
  return { job, user, mixHash, nonce: new Uint8Array(Buffer.concat(parts as Uint8Array[])) }
}

const stratumResult = (id: Id, result: unknown): object => ({ id, result, error: null })
const stratumError = (id: Id, { code, message }: Refusal): object => ({
  id,
  result: null,
  error: [code, message, null],
})
const push = (method: string, params: readonly unknown[]): object => ({ id: null, method, params })

const targets = ({ shareTarget }: AnnouncedJob): readonly object[] => [
  push('mining.set_difficulty', [difficultyOfTarget(shareTarget)]),
  // A difficulty is a double, and those of the second hash function are tiny: the exact target as well.
  push('mining.set_target', [bare(toWord(shareTarget))]),
]

/** EthereumStratum/1.0.0: nonce = extranonce and the miner's nonce. */
const ETHEREUM_STRATUM: StratumDialect = {
  name: 'EthereumStratum/1.0.0',
  subscribed: (session, prefix) => [['mining.notify', session, 'EthereumStratum/1.0.0'], bare(bytesToHex(prefix))],
  announce: (job, isNewTarget) => [
    ...(isNewTarget ? targets(job) : []),
    push('mining.notify', [job.id, bare(seedOf(job.template.version)), bare(job.sealHash), job.clean]),
  ],
  result: stratumResult,
  error: stratumError,
  submission: ([user, job, nonce, mix], prefix) =>
    submissionOf(user, job, [prefix, bytesFrom(nonce, NONCE_BYTES - prefix.byteLength)], mix),
}

const EXTRA_NONCE_2_BYTES = 2
const TIME_BYTES = 4

/** Stratum v1 without a coinbase transaction: nonce = extranonce1, extranonce2 and nonce. */
const STRATUM_V1: StratumDialect = {
  name: 'stratum',
  subscribed: (session, prefix) => [
    [
      ['mining.set_difficulty', session],
      ['mining.notify', session],
    ],
    bare(bytesToHex(prefix)),
    EXTRA_NONCE_2_BYTES,
  ],
  announce: (job, isNewTarget) => [
    ...(isNewTarget ? targets(job) : []),
    push('mining.notify', [job.id, bare(job.sealHash), job.clean, bare(seedOf(job.template.version))]),
  ],
  result: stratumResult,
  error: stratumError,
  submission: (params, prefix) => {
    const [user, job, second, time, nonce, mix] = params
    const rest = NONCE_BYTES - prefix.byteLength - EXTRA_NONCE_2_BYTES
    // A header has no time: the field is read past.
    if (bytesFrom(time, TIME_BYTES) === undefined) return undefined
    return submissionOf(user, job, [prefix, bytesFrom(second, EXTRA_NONCE_2_BYTES), bytesFrom(nonce, rest)], mix)
  },
}

/** getwork over TCP: the arrays of eth_getWork, with the share target in place of the header's. */
const GETWORK: StratumDialect = {
  name: 'getwork',
  subscribed: () => undefined,
  announce: job => [{ id: 0, jsonrpc: '2.0', result: workOf(job) }],
  result: (id, result) => ({ id, jsonrpc: '2.0', result }),
  error: (id, { code, message }) => ({ id, jsonrpc: '2.0', error: { code, message } }),
  submission: ([nonce, sealHash, mix]) =>
    submissionOf(undefined, typeof sealHash === 'string' ? sealHash.toLowerCase() : sealHash, [nonceFrom(nonce)], mix),
}

/** Work in the shape of getWork. */
export const workOf = (job: AnnouncedJob): readonly Hex[] => [
  job.sealHash,
  seedOf(job.template.version),
  toWord(job.shareTarget),
  toQuantity(job.template.height),
]

/** Dialect of a client by its first request; undefined when that begins none. */
export const dialectOf = ({ method, params }: StratumRequest): StratumDialect | undefined => {
  if (/^eth_(submitLogin|login)$/.test(method)) return GETWORK
  if (method !== 'mining.subscribe') return undefined
  return params[1] === ETHEREUM_STRATUM.name ? ETHEREUM_STRATUM : STRATUM_V1
}

export const NO_DIALECT: Refusal = {
  code: STRATUM_CODES.notSubscribed,
  message: 'begin with mining.subscribe or eth_submitLogin',
}
