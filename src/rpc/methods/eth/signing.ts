import { Mutex } from '@tandem/base/async/mutex.ts'
import { bytesEqual, concatBytes, EMPTY_BYTES, type Hex } from '@tandem/base/bytes.ts'
import { getOrMake } from '@tandem/base/get-or-make.ts'
import { keccak256 } from '../../../crypto/hash.ts'
import { impersonationSignature } from '../../../primitives/transaction/impersonation.ts'
import type { DecodedTransaction } from '../../../primitives/transaction/transaction.ts'
import {
  encodeTransaction,
  signatureParts,
  signingPayload,
  type UnsignedTransaction,
} from '../../../primitives/transaction/transaction-encoding.ts'
import { suggestedGasPrice } from '../../../rules/money/base-fee.ts'
import { callMessageFromArgs, checkCallArgs, type TransactionArgs } from '../../codecs/call.ts'
import { serverError, unknownAccount } from '../../errors.ts'
import type { Wallet } from '../../ports.ts'
import type { Context } from '../../router/context.ts'
import { estimateBlock } from './call.ts'

/** Digest of `eth_sign` (EIP-191, version 0x45); the prefix keeps it from being a transaction. */
export const personalDigest = (message: Uint8Array): Uint8Array =>
  keccak256(concatBytes(Buffer.from(`\x19Ethereum Signed Message:\n${message.byteLength}`), message))

/** Returns the signing account; throws `unknown account` when the node does not hold its key. */
export const ownAccount = ({ wallet, view }: Context, from: Hex | undefined): Hex => {
  const accounts = wallet.accounts()
  if (from === undefined || !accounts.includes(from))
    throw unknownAccount(view.params.devHelpers && accounts.length === 0)
  return from
}

/** Returns the sending account: one of the node's own, or on a development chain an impersonated one. */
export const sendingAccount = (context: Context, from: Hex | undefined): Hex =>
  from !== undefined && context.wallet.impersonates?.(from) ? from : ownAccount(context, from)

const hasFees = ({ gasPrice, maxFeePerGas, maxPriorityFeePerGas }: TransactionArgs): boolean =>
  gasPrice !== undefined || maxFeePerGas !== undefined || maxPriorityFeePerGas !== undefined

export const requireFees = (args: TransactionArgs): void => {
  if (!hasFees(args)) throw serverError('missing gasPrice or maxFeePerGas/maxPriorityFeePerGas')
}

type Fees = Pick<UnsignedTransaction, 'type' | 'maxFeePerGas' | 'maxPriorityFeePerGas'>

/** Authorizations make a set-code transaction, a gas price a legacy one (with access list type 1); without fees the suggested price. */
const feesOf = ({ view }: Context, args: TransactionArgs): Fees => {
  if (args.maxFeePerGas !== undefined || args.maxPriorityFeePerGas !== undefined) {
    const maxPriorityFeePerGas = args.maxPriorityFeePerGas ?? 0n
    return {
      type: args.authorizationList === undefined ? 2 : 4,
      maxFeePerGas: args.maxFeePerGas ?? view.nextBaseFee() * 2n + maxPriorityFeePerGas,
      maxPriorityFeePerGas,
    }
  }
  const price = args.gasPrice ?? suggestedGasPrice(view.nextBaseFee(), view.params.baseFee)
  const type = args.authorizationList !== undefined ? 4 : args.accessList === undefined && args.type !== 1n ? 0 : 1
  return { type, maxFeePerGas: price, maxPriorityFeePerGas: type === 4 ? 0n : price }
}

const gasOf = async (context: Context, from: Hex, args: TransactionArgs): Promise<bigint> => {
  if (args.gas !== undefined) return args.gas
  const { view, calls, client } = context
  const message = callMessageFromArgs({ ...args, from })
  const pending = estimateBlock(context) === 'pending'
  return calls.estimateGas({ message, number: view.head().header.number, pending }, client)
}

/** Names the fees of a call that names neither these nor a type by type 2, as wallets do; before London by gas price. */
export const withFees = ({ view }: Context, args: TransactionArgs): TransactionArgs =>
  hasFees(args) || (args.type ?? 2n) !== 2n || view.head().header.baseFeePerGas === undefined
    ? args
    : { ...args, maxFeePerGas: suggestedGasPrice(view.nextBaseFee(), view.params.baseFee), maxPriorityFeePerGas: 0n }

/** Returns the transaction that a call describes, with absent members filled: gas by estimate, nonce from the pool. */
export const filledTransaction = async (
  context: Context,
  from: Hex,
  args: TransactionArgs,
): Promise<UnsignedTransaction> => {
  checkCallArgs(args)
  if (args.type === 3n) throw serverError('transaction type not supported')
  const { view, pool } = context
  const { chainId } = view.params
  if (args.chainId !== undefined && args.chainId !== BigInt(chainId))
    throw serverError(`chainId does not match node's (have=${args.chainId}, want=${chainId})`)
  const { authorizationList } = args
  const gasLimit = await gasOf(context, from, args)
  return {
    ...feesOf(context, args.type === 2n ? withFees(context, args) : args),
    chainId,
    nonce: args.nonce ?? pool.nextNonce(from),
    gasLimit,
    to: args.to ?? null,
    value: args.value ?? 0n,
    data: args.data ?? EMPTY_BYTES,
    accessList: args.accessList ?? [],
    ...(authorizationList !== undefined && { authorizationList }),
  }
}

/** Fills absent members, signs, and returns the signed transaction. */
export const signTransaction = async (
  context: Context,
  from: Hex,
  args: TransactionArgs,
): Promise<DecodedTransaction> => {
  const { wallet } = context
  const unsigned = await filledTransaction(context, from, args)
  if (wallet.impersonates?.(from) && !wallet.accounts().includes(from))
    return encodeTransaction(unsigned, impersonationSignature(from))
  const signature = await wallet.sign(from, keccak256(signingPayload(unsigned)))
  return encodeTransaction(unsigned, signatureParts(signature))
}

/** One mutex per account of a wallet; wallets hold few accounts. */
const turns = new WeakMap<Wallet, Map<Hex, Mutex>>()

const mutexOf = (wallet: Wallet, account: Hex): Mutex =>
  getOrMake(
    getOrMake(turns, wallet, () => new Map()),
    account,
    () => new Mutex(),
  )

/** Signs and submits. The account's mutex is held from nonce to pool, so no other transaction takes the same nonce. */
export const sendTransaction = async (context: Context, from: Hex, args: TransactionArgs): Promise<Hex> => {
  const filled = { ...args, gas: await gasOf(context, from, args) }
  return mutexOf(context.wallet, from).run(async () =>
    context.pool.submit((await signTransaction(context, from, filled)).raw, from),
  )
}

/** Price and gas limit with which a transaction is sent again; absent ones stay as they were. */
interface ResendFees {
  readonly gasPrice: bigint | undefined
  readonly gas: bigint | undefined
}

/** Signs and submits a pending transaction of an account again; throws when the pool holds none like it. */
export const resend = async (
  context: Context,
  from: Hex,
  args: TransactionArgs,
  { gasPrice, gas }: ResendFees,
): Promise<Hex> => {
  const { nonce, to = null, value = 0n, data = EMPTY_BYTES } = args
  if (nonce === undefined) throw serverError('missing transaction nonce in transaction spec')
  const { pending, queued } = context.pool.content()
  const own = [...(pending.get(from) ?? []), ...(queued.get(from) ?? [])]
  const found = own.find(waiting => waiting.nonce === nonce)
  if (found === undefined || found.to !== to || found.value !== value || !bytesEqual(found.data, data))
    throw serverError(`no pending transaction of this account with nonce ${nonce} and these contents`)
  const priced =
    gasPrice === undefined ? args : { ...args, gasPrice, maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }
  return sendTransaction(context, from, { ...priced, gas: gas ?? args.gas ?? found.gasLimit })
}

/** Submits a transaction without a signature on a development chain (primitives/transaction/impersonation.ts). */
export const sendUnsigned = (context: Context, from: Hex, args: TransactionArgs): Promise<Hex> =>
  sendTransaction({ ...context, wallet: { ...context.wallet, impersonates: () => true } }, from, args)

/** Returns r, s and v (27 or 28). */
export const signPersonalMessage = async (
  { wallet }: Context,
  account: Hex,
  message: Uint8Array,
): Promise<Uint8Array> => {
  const signature = Uint8Array.from(await wallet.sign(account, personalDigest(message)))
  signature[64] = signature[64] === 1 ? 28 : 27
  return signature
}
