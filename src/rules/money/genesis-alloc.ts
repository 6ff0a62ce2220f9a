import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import artifact from '../../../contracts/Council.json' with { type: 'json' }
import type { Genesis, GenesisAccount } from '../../config/genesis/genesis.ts'
import { COUNCIL_ADDRESS, HISTORY_ADDRESS } from '../../config/networks.ts'
import { councilStorage } from '../council/council-storage.ts'

/** Runtime code of the contract of block hashes, from EIP-2935. */
const HISTORY_CODE: Hex =
  '0x3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500'
/** There from block 0, whenever Prague is scheduled: forks are no part of the genesis hash. */
const HISTORY_ACCOUNT: GenesisAccount = { balance: 0n, nonce: 1, code: hexToBytes(HISTORY_CODE), storage: new Map() }

/** Every account of block 0: those of the file, the council contract with the stakes of the first members, and that of block hashes. */
export const genesisAlloc = (genesis: Genesis): ReadonlyMap<Hex, GenesisAccount> =>
  new Map([...genesis.alloc, [COUNCIL_ADDRESS, councilAccount(genesis)], [HISTORY_ADDRESS, HISTORY_ACCOUNT]])

const councilAccount = ({ council, params }: Genesis): GenesisAccount => ({
  balance: council.reduce((sum, { stakeWei }) => sum + stakeWei, 0n),
  // As of a created contract (EIP-161).
  nonce: 1,
  code: hexToBytes(artifact.runtime as Hex),
  storage: councilStorage(council, { ...params.council, minStakeWei: params.minStakeWei }),
})

/** Sum of all balances of block 0, wei. */
export const genesisSupply = (genesis: Genesis): bigint => {
  let wei = 0n
  for (const { balance } of genesisAlloc(genesis).values()) wei += balance
  return wei
}
