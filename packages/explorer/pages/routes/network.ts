import { formatNumber } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, copyable, emptyState, facts } from '@tandem/web/parts.ts'
import { EXPLORER_PATH, RPC_PATH } from '@tandem/web/site.ts'
import { isProofFork, type TandemRules } from '../../chain/rules.ts'
import type { PageContent, PageContext, PageRoute } from '../page-route.ts'
import { heading } from '../parts/heading.ts'
import { gwei } from '../parts/values.ts'
import { WALLET_SCRIPT, walletChain } from '../wallet.ts'

const TOKEN_DECIMALS = 18
/** Replaced by the page's script with the address under which the browser reached the node. */
const ORIGIN = 'http://localhost'

const wallets = (context: PageContext): Html =>
  card(
    'Add this network to a wallet',
    html`
<div class="wallets" data-chain="${walletChain(context)}"></div>
<p class="note" data-wallet-status role="status">Wallets of this browser appear here as buttons. Without one, enter the values below by hand.</p>`,
  )

const rpcAddress = (url: string): Html =>
  url === RPC_PATH
    ? html`<span class="scripted" data-origin="${ORIGIN}">${copyable(ORIGIN, 'JSON-RPC address')}</span><noscript>the address of this page without its path</noscript> <small>see <a href="${RPC_PATH}">this node</a></small>`
    : copyable(url, 'JSON-RPC address')

const networkPage = async (context: PageContext): Promise<PageContent> => {
  const { rules, site } = context
  const { tandem } = rules
  return {
    title: 'Network',
    body: html`
${heading('Network', { lead: 'What a wallet, a library or a node needs to know of this chain.' })}
${site.rpcUrl !== undefined && wallets(context)}
${card(
  'For wallets and libraries',
  facts([
    ['Name', rules.tandem ? `Tandem ${site.network}` : site.network],
    ['Chain id', html`${copyable(String(rules.chainId), 'chain id')} <small>0x${rules.chainId.toString(16)}</small>`],
    ['Currency', html`${site.symbol} <small>${TOKEN_DECIMALS} decimals</small>`],
    site.rpcUrl !== undefined && ['JSON-RPC', rpcAddress(site.rpcUrl)],
    [
      'Explorer',
      html`<code>${EXPLORER_PATH}</code> <small>pages as in EIP-3091: /block, /tx, /address, /token</small>`,
    ],
  ]),
)}
${tandem && ruleCards(tandem, rules.blockTimeMs ?? 0)}
${site.rpcUrl !== undefined && html`<script src="${WALLET_SCRIPT.path}"></script>`}`,
  }
}

const ruleCards = (tandem: TandemRules, blockTimeMs: number): Html => {
  const { maxBlockExecutionGas, maxTxExecutionGas, baseFee, committeeSize, rewards, proofChain } = tandem
  return html`<div class="columns">
${card(
  'Blocks',
  facts([
    ['Time between blocks', blockTimeMs === 0 ? 'at once for each transaction' : `${blockTimeMs / 1_000} s`],
    ['Finality', 'at once: a committed block is never replaced'],
    ['Gas of a block', formatNumber(maxBlockExecutionGas)],
    ['Gas of a transaction', formatNumber(maxTxExecutionGas ?? maxBlockExecutionGas)],
    [
      'Base fee',
      baseFee === undefined ? 'by EIP-1559' : `${gwei(baseFee.lowerBoundWei)} to ${gwei(baseFee.upperBoundWei)} gwei`,
    ],
    ['Committee', formatNumber(committeeSize)],
    ['Cycle', `${formatNumber(rewards.cycleBlocks)} blocks`],
    ['Proof chain', `a header each ${formatNumber(proofChain.spacingBlocks)} blocks`],
  ]),
)}
${card('Forks', forks(tandem))}
</div>`
}

/** Rules in force, by the height from which they are. */
const forks = (rules: TandemRules): Html => {
  const planned = rules.forks.filter(({ height }) => height !== null)
  return planned.length === 0
    ? emptyState('No forks.', 'The chain keeps its first rules.')
    : facts(
        planned.map(
          ({ name, height }) =>
            [
              name,
              height === 0
                ? 'from genesis'
                : html`from ${isProofFork(name) ? 'proof height' : 'block'} ${formatNumber(height ?? 0)}`,
            ] as const,
        ),
      )
}

export const networkPages: readonly PageRoute[] = [{ path: '/network', needsIndex: false, render: networkPage }]
