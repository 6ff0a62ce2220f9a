import { rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { allowsFaucet, type Namespace } from '../../config/networks.ts'
import { TEST_MNEMONIC } from '../../devnet/accounts.ts'
import { devnetAccounts, devnetNode, isWellKnown } from '../../devnet/options.ts'
import { makeTempFolder, REMOVE_OPTIONS, removeDeadFolders } from '../../devnet/temp-folder.ts'
import type { DevAccount, DevnetOptions } from '../../devnet/types.ts'
import type { RunningNode } from '../../node/options.ts'
import { version } from '../../node/version.ts'
import { checkStateFile, prepareDataDir } from '../shared/files.ts'
import { checkExplorerFiles } from '../shared/options/explorer-files.ts'
import { type MethodFlags, methodsOf } from '../shared/options/method-options.ts'
import { type MiningFlags, miningOf } from '../shared/options/mining-options.ts'
import type { NodeFlags } from '../shared/options/options.ts'
import { formatTokens } from '../shared/output.ts'
import { explorerOptions, namespacesOf, runNode } from '../shared/process/run-node.ts'
import { deferSignals } from '../shared/process/run-process.ts'

/** Parsed options of `tandem devnet`. */
export interface DevnetFlags extends DevnetOptions, NodeFlags, MiningFlags, MethodFlags {
  readonly datadir?: string
  readonly httpApi?: readonly Namespace[]
  readonly operatorPort?: number
  readonly state?: string
  readonly abi?: string
  readonly explorer: boolean
  readonly faucet: boolean
}

/** Starts a development chain; a temporary folder is deleted with it. */
export const runDevnet = async (flags: DevnetFlags): Promise<void> => {
  if (flags.unlock && !isWellKnown(flags) && flags.operatorPort === undefined)
    throw new Error(
      '--unlock with a --mnemonic of your own signs on the operator port only, so that no proxy in front of the public port lets others sign: give --operator-port NUMBER as well.',
    )
  await checkExplorerFiles(flags, 'the explorer: leave out --no-explorer')
  const keys = await devnetAccounts(flags)
  const { accounts } = keys
  if (flags.state !== undefined) checkStateFile(resolve(flags.state))
  if (flags.datadir !== undefined) prepareDataDir(resolve(flags.datadir))
  const temporary = flags.datadir === undefined
  const node = devnetNode(flags, keys, temporary)
  // From here on a signal is handled by `runProcess`, which removes the folder.
  deferSignals()
  const dataDir = temporary ? makeTempFolder('devnet') : resolve(flags.datadir)
  const { params } = node.genesis
  const { chainId } = params
  await runNode({
    flags: { ...flags, cors: flags.cors ?? ['localhost'] },
    node: {
      ...{ ...node, dataDir },
      ...(flags.operatorPort !== undefined && { operatorPort: flags.operatorPort }),
      ...(flags.state !== undefined && { stateFile: resolve(flags.state) }),
      devnet: { ...node.devnet, ...(flags.abi !== undefined && { abiFolder: resolve(flags.abi) }) },
      ...explorerOptions(flags, { startsAtOnce: false }),
      // Not on a chain with mainnet's id, where transfers of the same keys would be valid too. It pays from the account that tests use least.
      ...(flags.faucet &&
        allowsFaucet(params) && { faucet: { privateKey: hexToBytes(accounts.at(-1)?.privateKey as Hex) } }),
      ...namespacesOf(flags.httpApi),
      ...methodsOf(flags),
      ...miningOf(flags, accounts[0]?.address.toLowerCase() as Hex),
    },
    announce: node => {
      // Clean-up of other chains' folders: a failure does not concern this chain.
      if (temporary) removeDeadFolders().catch(() => undefined)
      if (flags.json) announceJson(node, chainId, accounts)
      else
        announceText(node, chainId, accounts, flags, temporary ? `${dataDir} (temporary, removed at the end)` : dataDir)
    },
    ...(temporary && { cleanUp: () => rmSync(dataDir, REMOVE_OPTIONS) }),
  })
}

const announceJson = (node: RunningNode, chainId: number, accounts: readonly DevAccount[]): void => {
  const { urls, genesisHash } = node
  const { http, ws, operator, stratum, metrics, explorer, pages, faucet } = urls
  const known = { ready: true, http, ws, chainId, genesisHash, accounts }
  process.stdout.write(`${JSON.stringify({ ...known, operator, stratum, metrics, explorer, pages, faucet })}\n`)
}

const announceText = (
  node: RunningNode,
  chainId: number,
  accounts: readonly DevAccount[],
  flags: DevnetFlags,
  folder: string,
): void => {
  const { urls, genesisHash } = node
  const blocks = flags.blockTime === 0 ? 'a block at once per transaction' : `a block every ${flags.blockTime} s`
  const rows = accounts.map(
    ({ address, privateKey }, index) => `  ${String(index).padStart(3)}  ${address}  ${privateKey}`,
  )
  const words = flags.mnemonic ?? TEST_MNEMONIC
  process.stdout.write(
    `
Tandem ${version} devnet

  HTTP        ${urls.http}
  WebSocket   ${urls.ws}${urls.operator ? `\n  Operator    ${urls.operator} (loopback only)` : ''}${urls.stratum ? `\n  Stratum     ${urls.stratum}` : ''}${urls.metrics ? `\n  Metrics     ${urls.metrics}` : ''}${urls.pages ? `\n  Explorer    ${urls.pages}` : ''}${urls.faucet ? `\n  Faucet      ${urls.faucet}` : ''}
  Chain id    ${chainId}
  Genesis     ${genesisHash}
  Blocks      ${blocks}
  Data        ${folder}

Accounts with ${formatTokens(flags.balance)} tokens each, and their private keys
${rows.join('\n')}

  Mnemonic    ${words}
  Signing     ${flags.unlock ? 'by the node too (eth_sendTransaction)' : 'in the client; --unlock lets the node sign for these accounts'}
${flags.mnemonic === undefined ? '  Everybody knows these keys: never use them on a public network.\n' : ''}
Ctrl-C stops the chain.

`,
  )
}
