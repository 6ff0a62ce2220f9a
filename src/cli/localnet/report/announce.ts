import { TEST_MNEMONIC } from '../../../devnet/accounts.ts'
import { version } from '../../../node/version.ts'
import { formatTokens } from '../../shared/output.ts'
import type { LocalnetFolder } from '../folder.ts'
import type { LocalnetNode } from '../network.ts'
import { logFileOf } from '../plan.ts'

interface Announced {
  readonly folder: LocalnetFolder
  readonly nodes: readonly LocalnetNode[]
  readonly dir: string
  readonly isTemporary: boolean
  /** undefined: no chaos. */
  readonly seed: number | undefined
}

/** The first node's URLs represent the network. */
export const readyJson = ({ folder, nodes, dir, seed }: Announced): string => {
  const { localnetSettings, genesisHash, accounts } = folder
  const each = nodes.map(({ plan, process, urls }) => ({
    name: plan.name,
    http: urls?.http,
    ws: urls?.ws,
    operator: urls?.operator,
    peer: urls?.peer,
    metrics: urls?.metrics,
    stratum: urls?.stratum,
    pid: process.pid,
    validator: plan.validator,
    log: logFileOf(plan),
  }))
  const { http, ws } = each[0] as (typeof each)[number]
  const { chainId } = localnetSettings
  return JSON.stringify({ ready: true, http, ws, nodes: each, accounts, chainId, genesisHash, datadir: dir, seed })
}

export const readyText = ({ folder, nodes, dir, isTemporary, seed }: Announced): string => {
  const { localnetSettings, genesisHash, accounts } = folder
  const blocks =
    localnetSettings.blockTime === 0
      ? 'a block at once per transaction'
      : `a block every ${localnetSettings.blockTime} s`
  const rows = accounts.map(
    ({ address, privateKey }, index) => `  ${String(index).padStart(3)}  ${address}  ${privateKey}`,
  )
  const urls = nodes.map(
    ({ plan, urls }) =>
      `  ${plan.name.padEnd(12)}${urls?.http}  operator ${urls?.operator}${urls?.stratum ? `  ${urls.stratum}` : ''}`,
  )
  return `
Tandem ${version} localnet

  HTTP        ${nodes[0]?.urls?.http}
  WebSocket   ${nodes[0]?.urls?.ws}
  Chain id    ${localnetSettings.chainId}
  Genesis     ${genesisHash}
  Blocks      ${blocks}
  Validators  ${localnetSettings.validators}
  Full nodes  ${nodes.length - localnetSettings.validators}
  Data        ${dir}${isTemporary ? ' (temporary, removed at the end)' : ''}
  Logs        node.log in each node's folder there${seed === undefined ? '' : `\n  Chaos       seed ${seed}`}

${urls.join('\n')}

Accounts with ${formatTokens(localnetSettings.balanceWei)} tokens each, and their private keys
${rows.join('\n')}

  Mnemonic    ${localnetSettings.mnemonic}
${localnetSettings.mnemonic === TEST_MNEMONIC ? '  Everybody knows these keys: never use them on a public network.\n' : ''}
Ctrl-C stops all nodes.
`
}
