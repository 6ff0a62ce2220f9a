import { type Html, html } from '@tandem/web/html.ts'
import { card, codeBox, copyButton, facts } from '@tandem/web/parts.ts'
import { checksumAddress } from '../../keccak.ts'
import type { ContractFunction } from '../../verification/abi/abi-types.ts'
import type { ExplorerPageRequest, PageContext } from '../page-route.ts'
import { pathTo, wholeAddress } from '../parts/links.ts'
import { exactTokens } from '../parts/values.ts'
import { WALLET_SCRIPT, walletChain } from '../wallet.ts'
import { calldataOf } from './contract-call.ts'
import { type ContractView, type FunctionGroup, functionGroups } from './contract-view.ts'
import { argumentsOf, functionForm, functionTitle, inputField, isAskedFor } from './function-form.ts'
import { noFunctions } from './read-tab.ts'

const DECIMALS = 18
const VALUE = /^([0-9]{1,12})(?:\.([0-9]{1,18}))?$/

/** Wei of an amount in tokens; undefined: the text is none. */
const weiOf = (text: string): bigint | undefined => {
  if (text === '') return 0n
  const [, whole, fraction = ''] = VALUE.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole + fraction.padEnd(DECIMALS, '0'))
}

const quantity = (value: bigint): string => `0x${value.toString(16)}`

/** Transaction that a wallet is asked to send; without one, its parts to copy. */
const prepared = async (
  context: PageContext,
  { address }: ContractView,
  entry: ContractFunction,
  { data, wei }: { readonly data: string; readonly wei: bigint },
): Promise<Html> => {
  const { node, site } = context
  const gasPrice = quantity(await node.gasPriceWei())
  const transaction = JSON.stringify({ to: address, data, value: quantity(wei), gasPrice })
  return html`
<div class="result" role="status">
${facts([
  ['To', wholeAddress(checksumAddress(address))],
  ['Value', exactTokens(wei, site.symbol)],
  ['Calldata', html`${codeBox(data, `Calldata of ${entry.name.slice(0, 64)}`)}${copyButton(data, 'calldata')}`],
])}
<div class="wallets" data-transaction="${transaction}" data-chain="${walletChain(context)}" data-transactions="${pathTo('tx')}/"></div>
<p class="note" data-wallet-status role="status">Wallets of this browser appear here as buttons and ask before they sign. Without one, send the transaction above with any tool that has your key.</p>
</div>`
}

const functionItem = async (
  context: PageContext,
  view: ContractView,
  entry: ContractFunction,
  request: ExplorerPageRequest,
): Promise<Html> => {
  const isAsked = isAskedFor(entry, request)
  const isPayable = entry.mutability === 'payable'
  const { values, problems } = argumentsOf(entry, request)
  const valueText = isAsked && isPayable ? (request.query['value'] ?? '').trim() : ''
  const wei = weiOf(valueText)
  const more =
    isPayable &&
    inputField({
      id: `v-${entry.selector}`,
      name: 'value',
      label: html`Value <small>${context.site.symbol}</small>`,
      hint: 'sent with the call; empty for none',
      value: valueText,
      problem: wei === undefined ? 'Write an amount, as 1.5.' : undefined,
    })
  const isReady = isAsked && problems.size === 0 && wei !== undefined
  return html`
<li id="f-${entry.selector}">${functionTitle(entry)}
${functionForm(entry, { request, tab: 'write', button: 'Prepare', problems, more })}
${isReady && (await prepared(context, view, entry, { data: calldataOf(entry, values), wei }))}</li>`
}

/** Functions that write: the node encodes the call, a wallet of the browser signs and sends it. */
export const writeTab = async (
  context: PageContext,
  view: ContractView,
  request: ExplorerPageRequest,
): Promise<Html> => {
  const groups = functionGroups(view, false)
  if (groups.length === 0) return card('Write contract', noFunctions(view))
  const groupCard = async ({ title, functions }: FunctionGroup): Promise<Html> => {
    const items = await Promise.all(functions.map(entry => functionItem(context, view, entry, request)))
    return card(title, html`<ol class="functions">${items}</ol>`, 'prepared by this node, signed by your wallet')
  }
  return html`${await Promise.all(groups.map(groupCard))}<script src="${WALLET_SCRIPT.path}"></script>`
}
