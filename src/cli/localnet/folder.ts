import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import { makeFolder } from '@tandem/base/fs/make-folder.ts'
import { writeNewFile } from '@tandem/base/fs/write-new-file.ts'
import { parseGenesis } from '../../config/genesis/genesis.ts'
import { genesisText } from '../../config/genesis/genesis-text.ts'
import { NETWORKS } from '../../config/networks.ts'
import { accountsFromMnemonic } from '../../devnet/accounts.ts'
import type { DevAccount } from '../../devnet/types.ts'
import { openNodeKey } from '../../network/transport/node-key.ts'
import { genesisHashFromFile } from '../../node/genesis/genesis-hash.ts'
import { readText } from '../shared/files.ts'
import { addressOfKeyFile, randomKey } from '../shared/keys/read-key.ts'
import { keyFileOf, type NodePlan, planNodes } from './plan.ts'
import { type LocalnetSettings, parseSettings, resolveSettings, settingsText } from './settings.ts'

/** Localnet on disk, created or found. */
export interface LocalnetFolder {
  readonly localnetSettings: LocalnetSettings
  readonly genesisFile: string
  readonly genesisHash: Hex
  readonly nodes: readonly PreparedNode[]
  readonly accounts: readonly DevAccount[]
}

export interface PreparedNode extends NodePlan {
  /** Node id. */
  readonly id: string
  /** null: follows. */
  readonly validator: Hex | null
}

/**
 * Opens the localnet in `dir`, or creates one there: a key for each validator, a node key for each node, and a genesis with them as the
 * council. The settings file is written last: a folder without it is incomplete, and is refused like any other that is not empty.
 */
export const openLocalnet = async (
  dir: string,
  given: Partial<LocalnetSettings>,
  full: number,
): Promise<LocalnetFolder> => {
  makeFolder(dir)
  const shapeFile = join(dir, 'localnet.json')
  const entries = await readdir(dir)
  const isThere = entries.includes('localnet.json')
  if (!isThere && entries.length > 0)
    throw new Error(`${dir} is not empty and holds no localnet. Choose another --datadir, or empty it.`)
  const kept = isThere ? parseSettings(readText(shapeFile, '--datadir'), shapeFile) : undefined
  const localnetSettings = resolveSettings(given, kept, dir)
  const { accounts } = await accountsFromMnemonic(localnetSettings.mnemonic, localnetSettings.accounts)
  const genesisFile = join(dir, 'genesis.json')
  const nodes = await Promise.all(planNodes(localnetSettings.validators, full, dir).map(plan => prepare(plan, isThere)))
  if (!isThere) {
    await writeNewFile(genesisFile, genesisOf(localnetSettings, nodes, accounts), 0o644)
    await writeNewFile(shapeFile, settingsText(localnetSettings))
  }
  const genesisHash = await genesisHashFromFile(parseGenesis(readText(genesisFile, '--datadir')))
  return { localnetSettings, genesisFile, genesisHash, nodes, accounts }
}

/** Validators are those of the genesis; the number of full nodes may change. */
const prepare = async (plan: NodePlan, isThere: boolean): Promise<PreparedNode> => {
  const { id } = await openNodeKey(join(plan.folder, 'node-key.pem'))
  if (!plan.isValidator) return { ...plan, id, validator: null }
  const file = keyFileOf(plan)
  if (!isThere) await writeNewFile(file, `${bytesToHex(randomKey())}\n`)
  return { ...plan, id, validator: addressOfKeyFile(file, '--datadir') }
}

const genesisOf = (
  localnetSettings: LocalnetSettings,
  nodes: readonly PreparedNode[],
  accounts: readonly DevAccount[],
): string => {
  const { minStakeWei } = NETWORKS.devnet
  const council = nodes.flatMap(({ name, validator }) =>
    validator === null ? [] : [{ name, validator, owner: validator, reward: validator, stakeWei: minStakeWei }],
  )
  return genesisText({
    network: 'devnet',
    chainId: localnetSettings.chainId,
    timestamp: Math.floor(Date.now() / 1_000),
    council,
    foundation: (council[0] as (typeof council)[number]).validator,
    balances: new Map(accounts.map(({ address }) => [address.toLowerCase() as Hex, localnetSettings.balanceWei])),
    blockTimeMs: Math.round(localnetSettings.blockTime * 1_000),
  })
}
