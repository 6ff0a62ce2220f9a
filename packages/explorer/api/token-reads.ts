import { type Hex, toQuantity } from '@tandem/base/bytes.ts'
import { callWord } from '../chain/node-rpc.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { TokenRow } from '../store/sql/rows.ts'
import type { ApiContext } from './api-route.ts'

const TOTAL_SUPPLY: Hex = '0x18160ddd'
const BALANCE_OF: Hex = '0x70a08231'
const GAS = toQuantity(EXPLORER_LIMITS.contract.firstCallGas)

/** A uint256 that a contract returns; undefined: it returns something else, or fails. */
const readNumber = async ({ node }: Pick<ApiContext, 'node'>, to: Hex, data: Hex): Promise<bigint | undefined> => {
  const word = await callWord(node, to, data, GAS)
  return word === undefined ? undefined : BigInt(word)
}

/**
 * Balance of an owner in a token as the contract has it: events need not tell every change (wrapped tokens, rebasing). Where the contract does
 * not say, the sum of its events; null when that cannot be a balance.
 */
export const tokenBalance = async (
  context: Pick<ApiContext, 'node'>,
  { address, standard }: Pick<TokenRow, 'address' | 'standard'>,
  owner: Hex,
  sum: bigint,
): Promise<bigint | null> => {
  // An ERC-1155 contract knows balances by id only.
  const found =
    standard === 'ERC-1155'
      ? undefined
      : await readNumber(context, address, `${BALANCE_OF}${owner.slice(2).padStart(64, '0')}`)
  return found ?? (sum < 0n ? null : sum)
}

/** Supply of a token as the contract has it now, else as the index read it last; null: it does not say. */
export const tokenSupply = async (
  context: Pick<ApiContext, 'node'>,
  { address, standard, supply }: Pick<TokenRow, 'address' | 'standard' | 'supply'>,
): Promise<bigint | null> =>
  (standard === 'ERC-1155' ? undefined : await readNumber(context, address, TOTAL_SUPPLY)) ?? supply
