import type { Hex } from '@tandem/base/bytes.ts'
import { askNode } from '../chain/node-rpc.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import type { TokenRow } from '../store/sql/rows.ts'
import type { ApiContext } from './api-route.ts'

const TOTAL_SUPPLY: Hex = '0x18160ddd'
const BALANCE_OF: Hex = '0x70a08231'
const GAS = `0x${EXPLORER_LIMITS.contract.firstCallGas.toString(16)}`

/** A uint256 that a contract returns on the head's state; undefined: it returns something else, or fails. */
const readWord = async ({ node }: Pick<ApiContext, 'node'>, to: Hex, data: Hex): Promise<bigint | undefined> => {
  const response = await askNode(node, 'eth_call', [{ to, data, gas: GAS }, 'latest'])
  if (response === undefined) return undefined
  const { result } = JSON.parse(response) as { readonly result?: unknown }
  return typeof result === 'string' && /^0x[0-9a-f]{64}$/.test(result) ? BigInt(result) : undefined
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
      : await readWord(context, address, `${BALANCE_OF}${owner.slice(2).padStart(64, '0')}`)
  return found ?? (sum < 0n ? null : sum)
}

/** Supply of a token as the contract has it now, else as the index read it last; null: it does not say. */
export const tokenSupply = async (
  context: Pick<ApiContext, 'node'>,
  { address, standard, supply }: Pick<TokenRow, 'address' | 'standard' | 'supply'>,
): Promise<bigint | null> =>
  (standard === 'ERC-1155' ? undefined : await readWord(context, address, TOTAL_SUPPLY)) ?? supply
