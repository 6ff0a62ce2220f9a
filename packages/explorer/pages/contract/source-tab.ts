import { bytesToHex, type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { formatNumber } from '@tandem/web/amounts.ts'
import { type Fragment, type Html, html } from '@tandem/web/html.ts'
import { card, codeBox, copyButton, emptyState, facts } from '@tandem/web/parts.ts'
import { timeOf } from '@tandem/web/times.ts'
import { metadataSettings, sourcesOf, unprovenText } from '../../api/contract-status.ts'
import { plainText } from '../../chain/plain-text.ts'
import { checksumAddress } from '../../keccak.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { VerifiedContract } from '../../store/contract-store.ts'
import { constructorParameters } from '../../verification/abi/abi-types.ts'
import { type AbiValue, decodeParameters } from '../../verification/abi/abi-values.ts'
import { valueText } from '../../verification/abi/argument-text.ts'
import type { PageContext } from '../page-route.ts'
import { nameText, pathTo, transactionLink, wholeAddress } from '../parts/links.ts'
import type { ContractView } from './contract-view.ts'
import { sourceText } from './source-text.ts'

const { sourceChars, valueChars } = EXPLORER_LIMITS.contract
/** Bytes of code on the page. */
const CODE_BYTES = 8_192
/** Files that are listed. */
const FILES = 100

interface Creation {
  readonly creator: string | null
  readonly creationTransaction: string | null
}

const matchChip = (contract: VerifiedContract): Html => {
  const unproven = unprovenText(contract)
  const text =
    unproven === null
      ? 'every source and setting is the one it was compiled from'
      : `the deployed code is the same; ${unproven}`
  return html`<span class="chip good">verified: ${contract.match}</span> <small>${text}</small>`
}

/** Constructor arguments with their names, or as bytes where they do not fit the ABI. */
const argumentFact = ({ constructorArguments, creationMatch, abi }: VerifiedContract): Fragment => {
  if (constructorArguments === null)
    return creationMatch === 'different'
      ? 'not known: the creation code differs'
      : 'not known: the creation is not known'
  if (constructorArguments === '0x') return 'none'
  const parameters = constructorParameters(JSON.parse(abi) as readonly unknown[])
  const values =
    parameters &&
    decodeParameters(
      parameters.map(({ type }) => type),
      hexToBytes(constructorArguments),
    )
  const named = values?.map(
    (value, at) =>
      html`<div>${nameText(parameters?.[at]?.name ?? '', `argument ${at + 1}`)} <small>${parameters?.[at]?.text.slice(0, 120)}</small> ${argumentText(value)}</div>`,
  )
  return html`${named}<details class="data"><summary>Bytes</summary>${codeBox(constructorArguments.slice(0, 2 * CODE_BYTES), 'Constructor arguments')}</details>`
}

const argumentText = (value: AbiValue): Html =>
  html`<bdi class="value">${plainText(valueText(value), valueChars) ?? 'empty'}</bdi>`

const settingsCard = (contract: VerifiedContract): Html => {
  const { evmVersion, optimization, viaIR } = metadataSettings(contract)
  const libraries = Object.entries(contract.libraries)
  return card(
    'Source code',
    facts([
      ['Verification', matchChip(contract)],
      ['Contract', html`${nameText(contract.name, 'no name')} <small>${plainText(contract.path, 200)}</small>`],
      ['Compiler', html`solc ${nameText(contract.compiler, 'unknown')}`],
      [
        'Settings',
        [
          optimization.enabled ? `optimizer with ${formatNumber(optimization.runs)} runs` : 'no optimizer',
          evmVersion !== null && `EVM ${evmVersion.slice(0, 40)}`,
          viaIR && 'via IR',
        ]
          .filter(Boolean)
          .join(', '),
      ],
      contract.license !== null && ['License', nameText(contract.license, 'none')],
      ['Constructor arguments', argumentFact(contract)],
      libraries.length > 0 && [
        'Libraries',
        html`${libraries.slice(0, FILES).map(([name, address]) => html`<div>${plainText(name, 200)} ${wholeAddress(checksumAddress(address))}</div>`)}`,
      ],
      ['Verified', timeOf(contract.verifiedAt)],
    ]),
  )
}

/** Files of the source, the contract's own first and open, with the rest of them in the API. */
const filesCard = (contract: VerifiedContract): Html => {
  const sources = Object.entries(sourcesOf(contract))
  const ordered = [...sources].sort(([a], [b]) => Number(b === contract.path) - Number(a === contract.path))
  let room = sourceChars
  const files = ordered.slice(0, FILES).map(([path, { content }]) => {
    const shown = content.slice(0, room)
    room -= shown.length
    const note = shown.length < content.length ? 'cut' : `${formatNumber(Buffer.byteLength(content))} bytes`
    const name = plainText(path, 200) ?? 'no name'
    return html`
<details class="file"${path === contract.path && html` open`}><summary><code>${name}</code> <small>${note}</small></summary>${sourceText(shown, name)}</details>`
  })
  const isCut = room <= 0 || sources.length > FILES
  return card(
    sources.length === 1 ? 'File' : `${formatNumber(sources.length)} files`,
    html`<div class="list">${files}</div>${isCut && html`<p class="note">The whole source is in the API: <a href="/api/contracts/${contract.address}/source">/api/contracts/${contract.address}/source</a>.</p>`}`,
    html`<a href="/api/contracts/${contract.address}/source">as JSON</a>`,
  )
}

const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu

/** JSON with the characters that are not seen written as their codes, which mean the same. */
const printableJson = (json: string): string =>
  json.replace(UNPRINTABLE, characters =>
    [...Array(characters.length).keys()]
      .map(at => `\\u${characters.charCodeAt(at).toString(16).padStart(4, '0')}`)
      .join(''),
  )

const abiCard = (contract: VerifiedContract): Html => {
  const abi = printableJson(contract.abi)
  const shown = abi.slice(0, sourceChars)
  return card(
    'ABI',
    html`<details class="data"><summary>${formatNumber(abi.length)} characters of JSON</summary>${codeBox(shown, 'ABI')}</details>`,
    shown.length === abi.length ? copyButton(abi, 'ABI') : undefined,
  )
}

const proxyCard = ({ proxy }: ContractView): Html | undefined =>
  proxy &&
  card(
    proxy.kind === 'EIP-7702' ? 'Delegation' : 'Proxy',
    facts([
      ['Kind', proxy.kind],
      [
        'Implementation',
        proxy.implementation === null
          ? 'not known: its beacon names none'
          : wholeAddress(checksumAddress(proxy.implementation)),
      ],
      proxy.implementation !== null && [
        'Its source code',
        proxy.verified === undefined
          ? html`not verified <a href="${pathTo('verify')}?address=${proxy.implementation}">verify it</a>`
          : html`<span class="chip good">verified: ${proxy.verified.match}</span> <a href="${pathTo('address', proxy.implementation)}?tab=contract">${nameText(proxy.verified.name, 'source')}</a>`,
      ],
    ]),
    'calls are passed on to the implementation',
  )

const unverifiedCard = (address: Hex): Html =>
  card(
    'Source code',
    emptyState(
      'Not verified.',
      html`Nobody has shown yet that a source compiles to this code, so calls and logs are shown as bytes. <a href="${pathTo('verify')}?address=${address}">Verify this contract</a>, or let forge or hardhat do it.`,
    ),
  )

/** Source code, settings, proxy and code of a contract. */
export const sourceTab = async (
  { source }: PageContext,
  view: ContractView,
  { creator, creationTransaction }: Creation,
): Promise<Html> => {
  const { address, own } = view
  const code = await source.state.code(address)
  const hex = bytesToHex(code.subarray(0, CODE_BYTES))
  const isCut = code.byteLength > CODE_BYTES
  return html`
${proxyCard(view)}
${own === undefined ? view.proxy?.kind !== 'EIP-7702' && unverifiedCard(address) : html`${settingsCard(own)}${filesCard(own)}${abiCard(own)}`}
${card(
  'Contract',
  facts([
    creator !== null && ['Created by', wholeAddress(creator)],
    creationTransaction !== null && ['In transaction', transactionLink(creationTransaction)],
    ['Code', `${formatNumber(code.byteLength)} bytes`],
  ]),
)}
${card('Deployed code', codeBox([hex, isCut && '…'], 'Deployed code'), isCut ? `the first ${formatNumber(CODE_BYTES)} bytes` : copyButton(hex, 'code'))}`
}
