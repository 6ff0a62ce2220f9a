import { assert } from '@tandem/base/assert.ts'
import { EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import type { Nonce } from '@tandem/base/uint64.ts'
import { decodeOrMalformed, type MalformedError, malformed } from '../rlp/malformed.ts'
import { RlpCursor, readHex32 } from '../rlp/rlp-cursor.ts'

export interface AccessListEntry {
  readonly address: Hex
  readonly storageKeys: readonly Hex[]
}

export interface Authorization {
  readonly chainId: bigint
  readonly address: Hex
  readonly nonce: bigint
  readonly yParity: number
  readonly r: Uint8Array
  readonly s: Uint8Array
}

/** Decoded transaction, before its sender is recovered. */
export interface DecodedTransaction {
  /** EIP-2718 type; 3 (blobs) exists only in fixture mode, 4 (EIP-7702) where Prague is active. */
  readonly type: 0 | 1 | 2 | 3 | 4
  /** undefined: a legacy transaction without EIP-155 replay protection. */
  readonly chainId: number | undefined
  readonly nonce: Nonce
  readonly gasLimit: bigint
  /** Legacy and type 1: both are gasPrice. */
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly to: Hex | null
  readonly value: bigint
  readonly data: Uint8Array
  readonly accessList: readonly AccessListEntry[]
  readonly authorizationList?: readonly Authorization[]
  readonly maxFeePerBlobGas?: bigint
  readonly blobVersionedHashes?: readonly Hex[]
  /** As signed: legacy 27/28 or 35/36 + 2 * chainId, typed 0/1. */
  readonly v: bigint
  /** Big-endian, without leading zeros. */
  readonly r: Uint8Array
  readonly s: Uint8Array
  /** Canonical serialisation: RLP, or the type byte and RLP. Its keccak256 is the hash. */
  readonly raw: Uint8Array
}

export interface Transaction extends DecodedTransaction {
  readonly hash: Hex
  /** The sender. */
  readonly from: Hex
}

/** The bytes are not a canonical transaction; `reason` is the text a client sees. */
export type DecodeError = MalformedError<'TRANSACTION_MALFORMED'>

const refuse = (reason: string) => malformed('TRANSACTION_MALFORMED', reason)

const INVALID_SIGNATURE = 'invalid transaction v, r, s values'

/** Returns the type of well-formed serialised bytes by the first one: a list is a legacy transaction, 0 (EIP-2718). */
export const transactionType = (raw: Uint8Array): DecodedTransaction['type'] => {
  const first = raw[0] as number
  return first > 0x7f ? 0 : (first as DecodedTransaction['type'])
}

/** Decodes a canonical transaction (EIP-2718); fields are views of `raw`. Checks form, not chain id, fees, sender. Throws TRANSACTION_MALFORMED. */
export const decodeTransaction = (raw: Uint8Array): DecodedTransaction => {
  const type = raw[0]
  if (type === undefined) throw refuse('Empty input')
  return decodeOrMalformed('TRANSACTION_MALFORMED', () => (type > 0x7f ? decodeLegacy(raw) : decodeTyped(raw, type)))
}

const decodeLegacy = (raw: Uint8Array): DecodedTransaction => {
  const cursor = new RlpCursor(raw)
  const outer = cursor.openList()
  const nonce = cursor.nonce()
  const gasPrice = cursor.uint(32)
  const gasLimit = cursor.uint(8)
  const to = cursor.hexOrNull(20)
  const value = cursor.uint(32)
  const data = cursor.bytes()
  const v = cursor.safeUint()
  const r = readSignatureWord(cursor)
  const s = readSignatureWord(cursor)
  cursor.closeList(outer)
  cursor.finish()
  return {
    type: 0,
    chainId: legacyChainId(v),
    nonce,
    gasLimit,
    maxFeePerGas: gasPrice,
    maxPriorityFeePerGas: gasPrice,
    to,
    value,
    data,
    accessList: EMPTY_ACCESS_LIST,
    v: BigInt(v),
    r,
    s,
    raw,
  }
}

const decodeTyped = (raw: Uint8Array, type: number): DecodedTransaction => {
  if (!isTyped(type)) throw refuse('transaction type not supported')
  if (raw.byteLength === 1) throw refuse('typed transaction too short')
  const cursor = new RlpCursor(raw, 1)
  const outer = cursor.openList()
  const chainId = cursor.safeUint()
  const nonce = cursor.nonce()
  const maxPriorityFeePerGas = cursor.uint(32)
  const maxFeePerGas = type === 1 ? maxPriorityFeePerGas : cursor.uint(32)
  const gasLimit = cursor.uint(8)
  // Blob and set-code transactions cannot create a contract, so their recipient is never empty.
  const to = type > 2 ? cursor.hex(20) : cursor.hexOrNull(20)
  const value = cursor.uint(32)
  const data = cursor.bytes()
  const accessList = readAccessList(cursor)
  const blobs =
    type === 3 ? { maxFeePerBlobGas: cursor.uint(32), blobVersionedHashes: cursor.items(readHex32) } : undefined
  const authorizations = type === 4 ? { authorizationList: cursor.items(readAuthorization) } : undefined
  const v = cursor.safeUint()
  if (v > 1) throw refuse(INVALID_SIGNATURE)
  const r = readSignatureWord(cursor)
  const s = readSignatureWord(cursor)
  cursor.closeList(outer)
  cursor.finish()
  const common = {
    type,
    chainId,
    nonce,
    gasLimit,
    maxFeePerGas,
    maxPriorityFeePerGas,
    to,
    value,
    data,
    accessList,
    v: BigInt(v),
    r,
    s,
    raw,
  }
  return blobs ? { ...common, ...blobs } : authorizations ? { ...common, ...authorizations } : common
}

const isTyped = (type: number): type is 1 | 2 | 3 | 4 => type >= 1 && type <= 4

const readSignatureWord = (cursor: RlpCursor): Uint8Array => {
  const word = cursor.uintBytes(32)
  if (word.byteLength === 0) throw refuse(INVALID_SIGNATURE)
  return word
}

const legacyChainId = (v: number): number | undefined => {
  if (v === 27 || v === 28) return undefined
  if (v < 35) throw refuse(INVALID_SIGNATURE)
  return Math.floor((v - 35) / 2)
}

const EMPTY_ACCESS_LIST: readonly AccessListEntry[] = []

const readAccessList = (cursor: RlpCursor): readonly AccessListEntry[] =>
  cursor.takeEmptyList() ? EMPTY_ACCESS_LIST : cursor.items(readAccess)

const readAccess = (cursor: RlpCursor): AccessListEntry =>
  cursor.list(entry => ({ address: entry.hex(20), storageKeys: entry.items(readHex32) }))

const readAuthorization = (cursor: RlpCursor): Authorization =>
  cursor.list(item => ({
    chainId: item.uint(32),
    address: item.hex(20),
    nonce: item.uint(8),
    yParity: Number(item.uint(1)),
    r: item.uintBytes(32),
    s: item.uintBytes(32),
  }))

/** Returns the transaction with its hash and recovered sender. */
export const withSender = (
  decoded: DecodedTransaction,
  found: { readonly hash: Hex; readonly from: Hex },
): Transaction => new CompactTransaction(decoded, found)

/** Byte fields are cut out of `raw` on access: caches hold many thousands, and each view would cost over a hundred bytes. */
class CompactTransaction implements Transaction {
  readonly hash: Hex
  readonly from: Hex
  readonly type: DecodedTransaction['type']
  readonly chainId: number | undefined
  readonly nonce: Nonce
  readonly gasLimit: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly to: Hex | null
  readonly value: bigint
  readonly accessList: readonly AccessListEntry[]
  readonly raw: Uint8Array
  declare readonly authorizationList?: readonly Authorization[]
  declare readonly maxFeePerBlobGas?: bigint
  declare readonly blobVersionedHashes?: readonly Hex[]
  private readonly dataAt: number
  private readonly dataBytes: number
  private readonly rBytes: number
  private readonly sBytes: number
  private readonly yParity: 0 | 1

  constructor(decoded: DecodedTransaction, { hash, from }: { readonly hash: Hex; readonly from: Hex }) {
    const { raw, data, r, s } = decoded
    assert(data.buffer === raw.buffer && r.buffer === raw.buffer, 'byte fields are views of the raw bytes')
    this.hash = hash
    this.from = from
    this.type = decoded.type
    this.chainId = decoded.chainId
    this.nonce = decoded.nonce
    this.gasLimit = decoded.gasLimit
    this.maxFeePerGas = decoded.maxFeePerGas
    this.maxPriorityFeePerGas = decoded.maxPriorityFeePerGas
    this.to = decoded.to
    this.value = decoded.value
    this.accessList = decoded.accessList
    this.raw = raw
    if (decoded.authorizationList !== undefined) this.authorizationList = decoded.authorizationList
    if (decoded.maxFeePerBlobGas !== undefined) this.maxFeePerBlobGas = decoded.maxFeePerBlobGas
    if (decoded.blobVersionedHashes !== undefined) this.blobVersionedHashes = decoded.blobVersionedHashes
    this.dataAt = data.byteOffset - raw.byteOffset
    this.dataBytes = data.byteLength
    this.rBytes = r.byteLength
    this.sBytes = s.byteLength
    this.yParity = yParityOf(decoded)
  }

  get data(): Uint8Array {
    return this.dataBytes === 0 ? EMPTY_BYTES : this.raw.subarray(this.dataAt, this.dataAt + this.dataBytes)
  }

  /** r and s are the last two items: s ends the bytes, r ends before the header of s. */
  get r(): Uint8Array {
    const end = this.raw.byteLength - itemBytes(this.s)
    return this.raw.subarray(end - this.rBytes, end)
  }

  get s(): Uint8Array {
    return this.raw.subarray(this.raw.byteLength - this.sBytes)
  }

  get v(): bigint {
    if (this.type !== 0) return BigInt(this.yParity)
    return BigInt(this.yParity + (this.chainId === undefined ? 27 : 35 + 2 * this.chainId))
  }
}

/** Encoded length of a canonical integer of at most 32 bytes. */
const itemBytes = (word: Uint8Array): number =>
  word.byteLength === 1 && (word[0] as number) < 0x80 ? 1 : word.byteLength + 1

/** Price of a unit of gas, wei: base fee plus tip within the cap (EIP-1559); a legacy price is paid whole (docs/design/money.md#fees). */
export const effectiveGasPrice = (
  tx: Pick<DecodedTransaction, 'maxFeePerGas' | 'maxPriorityFeePerGas'>,
  baseFeePerGas: bigint,
): bigint => {
  const price = baseFeePerGas + tx.maxPriorityFeePerGas
  return price < tx.maxFeePerGas ? price : tx.maxFeePerGas
}

/** Part of that price above the base fee, wei per gas. */
export const effectiveTip = (tx: Parameters<typeof effectiveGasPrice>[0], baseFeePerGas: bigint): bigint =>
  effectiveGasPrice(tx, baseFeePerGas) - baseFeePerGas

/** 0 or 1: which of the two candidate public keys signed. */
export const yParityOf = (tx: Pick<DecodedTransaction, 'type' | 'chainId' | 'v'>): 0 | 1 => {
  if (tx.type !== 0) return tx.v === 0n ? 0 : 1
  // 27 and 35 + 2c are the even ones.
  return tx.v & 1n ? 0 : 1
}
