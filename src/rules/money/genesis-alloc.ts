import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import artifact from '../../../contracts/Council.json' with { type: 'json' }
import type { Genesis, GenesisAccount } from '../../config/genesis.ts'
import { COUNCIL_ADDRESS } from '../../config/networks.ts'
import { councilStorage } from '../council/council-storage.ts'

/** Every account of block 0: those of the file, and the council contract with the stakes of the first members. */
export const genesisAlloc = (genesis: Genesis): ReadonlyMap<Hex, GenesisAccount> =>
  genesis.style.format === 'tandem'
    ? new Map([...genesis.alloc, [COUNCIL_ADDRESS, councilAccount(genesis)]])
    : genesis.alloc

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
