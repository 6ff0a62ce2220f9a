import { bytesToHex, EMPTY_BYTES, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { FAUCET_LIMITS } from '../config/limits/faucet.ts'
import { keccak256, keccak256Hex } from '../crypto/hash.ts'
import { addressFromPrivateKey, sign } from '../crypto/signature.ts'
import { decodeTransaction } from '../primitives/transaction/transaction.ts'
import {
  encodeTransaction,
  signatureParts,
  signingPayload,
  type UnsignedTransaction,
} from '../primitives/transaction/transaction-encoding.ts'

interface TransferFields {
  readonly to: Hex
  readonly nonce: number
  readonly gasPrice: bigint
}

/** Account of the faucet: signs transfers of one grant, and nothing else. */
export type FaucetAccount = ReturnType<typeof createFaucetAccount>

/** Creates the account of a key on a chain. */
export const createFaucetAccount = (privateKey: Uint8Array, chainId: number) => ({
  address: addressFromPrivateKey(privateKey),
  transfer({ to, nonce, gasPrice }: TransferFields): { readonly raw: Hex; readonly hash: Hex } {
    const unsigned: UnsignedTransaction = {
      type: 0,
      chainId,
      nonce,
      gasLimit: FAUCET_LIMITS.transferGas,
      maxFeePerGas: gasPrice,
      maxPriorityFeePerGas: gasPrice,
      to,
      value: FAUCET_LIMITS.grantWei,
      data: EMPTY_BYTES,
      accessList: [],
    }
    const signature = sign(keccak256(signingPayload(unsigned)), privateKey)
    const { raw } = encodeTransaction(unsigned, signatureParts(signature))
    return { raw: bytesToHex(raw), hash: keccak256Hex(raw) }
  },
})

/** Gas price of a transfer that was signed here. */
export const priceOfTransfer = (raw: Hex): bigint => decodeTransaction(hexToBytes(raw)).maxFeePerGas
