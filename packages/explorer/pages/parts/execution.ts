import { formatNumber } from '@tandem/web/amounts.ts'
import { type Html, html } from '@tandem/web/html.ts'
import { card, codeBox, copyButton, emptyState, facts } from '@tandem/web/parts.ts'
import type { transactionBody } from '../../api/routes/transactions.ts'
import { plainText } from '../../chain/plain-text.ts'
import { valueText } from '../../verification/abi/argument-text.ts'
import type { TracedCall } from '../trace.ts'
import { addressLink, nameText, shownValue, wholeAddress } from './links.ts'
import { table } from './table.ts'
import { tokens } from './values.ts'

type Transaction = Awaited<ReturnType<typeof transactionBody>>

/** Characters of calldata or of a log's data on a page; the API has the rest. */
const DATA_CHARS = 8_192

const dataText = (data: string, name: string): Html =>
  codeBox([data.slice(0, DATA_CHARS), data.length > DATA_CHARS && '…'], name)

const bytesOf = (hex: string): number => (hex.length - 2) / 2

const TYPE_CHARS = 120
const VALUE_CHARS = 2_048

/** Values as a verified contract, or a common standard, names them. */
const decodedValues = ({ signature, verified, args }: NonNullable<Transaction['decodedInput']>): Html => html`
<p><code class="name">${plainText(signature, 4 * TYPE_CHARS)}</code> ${verified ? html`<span class="chip good">verified ABI</span>` : html`<span class="chip">common signature</span>`}</p>
${
  args.length > 0 &&
  facts(
    args.map(
      ({ name, type, value }, at) =>
        [
          html`${nameText(name, `argument ${at + 1}`)} <small>${type.slice(0, TYPE_CHARS)}</small>`,
          type === 'address' ? wholeAddress(String(value)) : shownValue(valueText(value), VALUE_CHARS),
        ] as const,
    ),
  )
}`

/** Card with the input of a transaction, decoded where its function is known. */
export const inputCard = (transaction: Transaction): Html => {
  const { input, txType, method, methodId, decodedInput } = transaction
  if (input === '0x') return card('Input', emptyState('No input.', 'The transaction only moved value.'))
  const name = method ?? methodId
  return card(
    txType === 'create' ? 'Code of the creation' : 'Input',
    html`${decodedInput === null ? txType !== 'create' && name !== null && html`<p>Function <code>${name}</code></p>` : decodedValues(decodedInput)}
<details class="data"><summary>${decodedInput ? 'Bytes' : `${formatNumber(bytesOf(input))} bytes`}</summary>${dataText(input, 'Input')}</details>`,
    copyButton(input, 'input'),
  )
}

/** Logs of a transaction, decoded by verified ABIs, or where they follow a token standard. */
export const logList = (logs: Transaction['logs']): Html => html`
<ol class="logs">${logs.map(
  ({ logIndex, address, topics, data, decoded }) =>
    html`<li><div><span class="chip">${logIndex}</span> ${wholeAddress(address)}</div>
${decoded && decodedValues(decoded)}
<details class="data"><summary>Topics and data</summary><div class="list">${topics.map((topic, at) => html`<div><small>Topic ${at}</small> <code class="name">${topic}</code></div>`)}${data !== '0x' && dataText(data, `Data of log ${logIndex}`)}</div></details></li>`,
)}</ol>`

/** Calls of a transaction as a table; depth as a number and a mark. */
export const callTable = (calls: readonly TracedCall[], symbol: string): Html =>
  table<TracedCall>(
    'Calls in the order they were made',
    [
      {
        title: 'Call',
        cell: ({ type, depth }) =>
          html`<span class="arrow">${'· '.repeat(Math.min(depth, 12))}</span><span class="chip">${type.toLowerCase()}</span>`,
      },
      { title: 'Depth', isNumber: true, cell: ({ depth }) => depth },
      { title: 'From', cell: ({ from }) => addressLink(from) },
      { title: 'To', cell: ({ to }) => (to === null ? 'none' : addressLink(to)) },
      { title: 'Function', cell: ({ method }) => (method === null ? '' : html`<code>${method}</code>`) },
      { title: 'Value', isNumber: true, cell: ({ valueWei }) => `${tokens(valueWei)} ${symbol}` },
      { title: 'Gas used', isNumber: true, cell: ({ gasUsed }) => formatNumber(gasUsed) },
      {
        title: 'Result',
        cell: ({ error }) =>
          error === null
            ? html`<span class="chip good">success</span>`
            : html`<span class="chip bad">${nameText(error, 'failed')}</span>`,
      },
    ],
    calls,
    emptyState('No calls.', 'The transaction called no contract.'),
  )
