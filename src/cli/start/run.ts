import { resolve } from 'node:path'
import { isUnspecifiedAddress } from '@tandem/base/address.ts'
import { defined } from '@tandem/base/defined.ts'
import type { Checkpoint } from '../../chain/snapshot/sync/snapshot-selector.ts'
import { type Genesis, parseGenesis } from '../../config/genesis/genesis.ts'
import { STORAGE_LIMITS } from '../../config/limits/storage.ts'
import { SNAPSHOT_LIMITS } from '../../config/limits/sync.ts'
import { NETWORKS, type NetworkName } from '../../config/networks.ts'
import { addressFromPrivateKey } from '../../crypto/signature.ts'
import { checkFaucetNetwork } from '../../faucet/open-faucet.ts'
import type { NodeOptions, RunningNode } from '../../node/options.ts'
import { version } from '../../node/version.ts'
import { prepareDataDir, readText } from '../shared/files.ts'
import { type Passwords, passwordsFrom } from '../shared/keys/passwords.ts'
import { readKey } from '../shared/keys/read-key.ts'
import { checkExplorerFiles } from '../shared/options/explorer-files.ts'
import { type MethodFlags, methodsOf } from '../shared/options/method-options.ts'
import { type MiningFlags, miningOf } from '../shared/options/mining-options.ts'
import type { NodeFlags } from '../shared/options/options.ts'
import { printWarning } from '../shared/output.ts'
import { explorerOptions, runNode } from '../shared/process/run-node.ts'
import { type PeerFlags, peersOf } from './peer-options.ts'
import { type PublicFlags, publicNamespacesOf, publicPortOf } from './public-options.ts'

/** Parsed options of `tandem start`. */
export interface StartFlags extends PublicFlags, NodeFlags, PeerFlags, MiningFlags, MethodFlags {
  readonly network: NetworkName
  readonly genesis?: string
  readonly datadir: string
  readonly validatorKey?: string
  readonly passwordFile?: string
  readonly unlock?: readonly string[]
  readonly trustMissingLog: boolean
  readonly operatorPort: number | 'off'
  readonly sync: 'full' | 'snapshot'
  readonly checkpoint?: Checkpoint
  readonly snapshotInterval: number
  readonly history: number | 'full'
  readonly explorer: boolean
  readonly faucet: boolean
  readonly faucetKey?: string
  readonly faucetDailyGrants?: number
  readonly faucetClientGrants?: number
}

/** Starts a node of a network on a genesis file. */
export const runStart = async (flags: StartFlags): Promise<void> => {
  const genesis = readGenesis(flags)
  checkFaucetFlags(flags, genesis)
  checkExecution(flags, genesis)
  checkHistory(flags, genesis)
  await checkExplorerFiles(flags, '--explorer')
  // Before the passwords, which a person may have to type.
  prepareDataDir(resolve(flags.datadir))
  const passwords = passwordsFrom(flags.passwordFile)
  const { validatorKey: file } = flags
  const validatorKey = file === undefined ? null : await readValidatorKey(file, passwords)
  const unlocked = await readUnlocked(flags.unlock ?? [], passwords, file === undefined ? 0 : 1)
  const faucet = await readFaucet(flags, passwords, unlocked.length + (file === undefined ? 0 : 1))
  await runNode({
    flags,
    node: {
      genesis,
      dataDir: resolve(flags.datadir),
      validatorKey,
      soleSigner: true,
      trustMissingLog: flags.trustMissingLog,
      unlocked,
      ...(flags.operatorPort !== 'off' && { operatorPort: flags.operatorPort }),
      publicPort: publicPortOf(flags),
      ...publicNamespacesOf(flags, genesis),
      sync: flags.sync,
      ...(flags.checkpoint && { checkpoint: flags.checkpoint }),
      snapshotInterval: flags.snapshotInterval,
      ...(flags.history !== 'full' && { history: flags.history }),
      peers: peersOf(flags),
      ...methodsOf(flags),
      ...miningOf(flags),
      ...explorerOptions(flags, { startsAtOnce: true }),
      ...(faucet && { faucet }),
    },
    announce: node => (flags.json ? announceJson(node, genesis) : announceText(node, genesis, flags)),
  })
}

/** State and rewards read blocks near the head, and so do peers that fetch a snapshot. */
export const checkHistory = (
  { history, stateHistory, snapshotInterval }: Pick<StartFlags, 'history' | 'stateHistory' | 'snapshotInterval'>,
  { params }: Pick<Genesis, 'params'>,
): void => {
  if (history === 'full') return
  if (params.devHelpers || stateHistory === 'archive')
    throw new Error('--history: development chains and --state-history archive keep all blocks.')
  const { cycleBlocks } = params.rewards
  const { kept, ancestors } = SNAPSHOT_LIMITS
  const served = (kept + 1) * (snapshotInterval + cycleBlocks) + ancestors + cycleBlocks
  const least = Math.max(STORAGE_LIMITS.recentBlocks, stateHistory, served)
  if (history >= least) return
  throw new Error(
    `--history must be at least ${least} blocks, or "full": the state, rewards, and peers that fetch a snapshot of this node need them (--state-history, --snapshot-interval).`,
  )
}

/** The validators of a public network owe each other blocks in time, which EthereumJS cannot promise. */
export const checkExecution = (
  { execution, validatorKey }: Pick<StartFlags, 'execution' | 'validatorKey'>,
  { params }: Pick<Genesis, 'params'>,
): void => {
  if (execution !== 'ethereumjs' || validatorKey === undefined || !params.needsGenesisFile) return
  throw new Error(
    `A validator of ${params.name} cannot run with --execution ethereumjs: the same gas takes EthereumJS up to hundreds of times longer, ` +
      'so full blocks would miss their time and this validator its votes. Leave out --execution, or --validator-key to follow the chain only.',
  )
}

const readGenesis = (flags: StartFlags): Genesis => {
  if (flags.genesis === undefined) {
    throw new Error(
      `--network ${flags.network} needs --genesis FILE: its first council and allocation are not part of this program. ` +
        (NETWORKS[flags.network].needsGenesisFile
          ? 'Ask the network for its file, or make one for a network of your own with "tandem genesis new".'
          : 'For a chain of your own at once, use "tandem devnet".'),
    )
  }
  const genesis = parseGenesis(readText(flags.genesis, '--genesis'))
  if (genesis.params.name !== flags.network) {
    throw new Error(
      `${flags.genesis} is a genesis of ${genesis.params.name}, not of ${flags.network}: give --network ${genesis.params.name} or another file.`,
    )
  }
  return genesis
}

const readValidatorKey = async (file: string, passwords: Passwords): Promise<Uint8Array> => {
  const { privateKey, encrypted } = await readKey(file, '--validator-key', name => passwords.of(name))
  if (!encrypted)
    printWarning(
      `--validator-key: ${file} holds the key unencrypted. Run: tandem key import ${file}, and use the keystore it writes`,
    )
  return privateKey
}

/** Reads the unlocked accounts' keys in order of the files, one by one: a person answers, and a decryption takes 256 MiB. */
const readUnlocked = async (files: readonly string[], passwords: Passwords, first: number) => {
  const unlocked: NodeOptions['unlocked'][number][] = []
  for (const [index, file] of files.entries()) {
    const { privateKey } = await readKey(file, '--unlock', name => passwords.of(name, first + index))
    unlocked.push({ address: addressFromPrivateKey(privateKey), privateKey })
  }
  return unlocked
}

/** Before the passwords. Throws FAUCET_ON_MAINNET. */
const checkFaucetFlags = ({ faucet, faucetKey }: StartFlags, { params }: Genesis): void => {
  if (faucet) checkFaucetNetwork(params)
  if (faucet !== (faucetKey !== undefined)) throw new Error('--faucet and --faucet-key FILE belong together.')
}

const readFaucet = async (
  { faucetKey, faucetDailyGrants: dailyGrants, faucetClientGrants: clientGrants }: StartFlags,
  passwords: Passwords,
  index: number,
): Promise<NodeOptions['faucet']> => {
  if (faucetKey === undefined) return undefined
  const { privateKey } = await readKey(faucetKey, '--faucet-key', name => passwords.of(name, index))
  return { privateKey, caps: defined({ dailyGrants, clientGrants }) }
}

const announceJson = (node: RunningNode, genesis: Genesis): void => {
  const { urls, genesisHash } = node
  process.stdout.write(
    `${JSON.stringify({ ready: true, ...urls, chainId: genesis.params.chainId, genesisHash, accounts: [] })}\n`,
  )
}

const announceText = (node: RunningNode, genesis: Genesis, flags: StartFlags): void => {
  const { urls, genesisHash } = node
  const lines = [
    `Tandem ${version} ${genesis.params.name}`,
    '',
    `  HTTP        ${urls.http}`,
    `  WebSocket   ${urls.ws}`,
    ...(urls.operator ? [`  Operator    ${urls.operator} (loopback only)`] : []),
    ...(urls.metrics ? [`  Metrics     ${urls.metrics}`] : []),
    ...(urls.pages ? [`  Explorer    ${urls.pages}`] : []),
    ...(urls.faucet ? [`  Faucet      ${urls.faucet}`] : []),
    ...(urls.stratum ? [`  Stratum     ${urls.stratum}`] : []),
    ...(urls.peer
      ? [
          `  Peers       ${urls.peer}${isUnspecifiedAddress(flags.p2pHost) && !flags.advertise ? ' (from this machine; --advertise names the address for others)' : ''}`,
        ]
      : []),
    `  Chain id    ${genesis.params.chainId}`,
    `  Genesis     ${genesisHash}`,
    `  Data        ${resolve(flags.datadir)}`,
    `  Role        ${flags.validatorKey === undefined ? 'follows the chain' : 'validator'}`,
  ]
  process.stdout.write(`\n${lines.join('\n')}\n\n`)
}
