import { type Html, html } from '@tandem/web/html.ts'
import { card, emptyState } from '@tandem/web/parts.ts'
import { plainText } from '../../chain/plain-text.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { ContractFunction } from '../../verification/abi/abi-types.ts'
import type { ExplorerPageRequest, PageContext } from '../page-route.ts'
import { pathTo, shownValue, wholeAddress } from '../parts/links.ts'
import { runFunction } from './contract-call.ts'
import { type ContractView, type FunctionGroup, functionGroups } from './contract-view.ts'
import { argumentsOf, functionForm, functionTitle, isAskedFor } from './function-form.ts'

const { callGas, firstCalls, firstCallGas, valueChars } = EXPLORER_LIMITS.contract

type CallOutcome = Awaited<ReturnType<typeof runFunction>>

/** Result of one function: a value, or what is wrong. */
interface Answer {
  readonly outcome?: CallOutcome
  readonly problems: ReadonlyMap<number, string>
}

const NO_PROBLEMS: ReadonlyMap<number, string> = new Map()

const abiOf = ({ own, proxy }: ContractView): readonly unknown[] =>
  [own, proxy?.verified].flatMap(contract => (contract ? (JSON.parse(contract.abi) as readonly unknown[]) : []))

/** Calls what was asked for, and the first functions that need no argument. */
const answersOf = async (
  context: PageContext,
  view: ContractView,
  functions: readonly ContractFunction[],
  request: ExplorerPageRequest,
): Promise<ReadonlyMap<string, Answer>> => {
  const abi = abiOf(view)
  const { address } = view
  const simple = functions.filter(({ inputs }) => inputs.length === 0).slice(0, firstCalls)
  const answers = functions.map(async (entry): Promise<readonly [string, Answer] | undefined> => {
    const isAsked = isAskedFor(entry, request)
    if (!isAsked && !simple.includes(entry)) return undefined
    const { values, problems } = argumentsOf(entry, request)
    if (problems.size > 0) return [entry.selector, { problems }]
    const gas = isAsked ? callGas : firstCallGas
    return [entry.selector, { problems, outcome: await runFunction(context, { address, entry, values, gas, abi }) }]
  })
  return new Map((await Promise.all(answers)).filter(answer => answer !== undefined))
}

const outcomeText = (outcome: CallOutcome): Html => {
  if (outcome.kind === 'failed')
    return html`<p class="problem">${plainText(outcome.reason, valueChars) ?? 'It failed without a reason.'}</p>`
  if (outcome.values.length === 0) return html`<p>It returned without a value.</p>`
  const isOne = outcome.values.length === 1
  return html`${outcome.values.map(
    ({ name, type, text }) =>
      html`<p>${type === 'address' ? wholeAddress(text) : shownValue(text, valueChars)} <small>${!isOne && name !== '' && `${plainText(name, 64) ?? ''} `}${type.slice(0, 120)}</small></p>`,
  )}`
}

const functionItem = (entry: ContractFunction, answer: Answer | undefined, request: ExplorerPageRequest): Html => {
  const { selector, inputs } = entry
  const { outcome, problems = NO_PROBLEMS } = answer ?? {}
  const isShown = inputs.length === 0 && outcome?.kind === 'returned'
  return html`
<li id="f-${selector}">${functionTitle(entry)}
${!isShown && functionForm(entry, { request, tab: 'read', button: 'Call', problems })}
${outcome !== undefined && html`<div class="result"${isAskedFor(entry, request) && html` role="status"`}>${outcomeText(outcome)}</div>`}</li>`
}

/** Message in place of the functions of a contract that nobody verified. */
export const noFunctions = ({ address, own, proxy }: ContractView): Html =>
  own === undefined && proxy?.verified === undefined
    ? emptyState(
        'The functions of this contract are not known.',
        html`They are listed once its source code is verified: <a href="${pathTo('verify')}?address=${address}">verify it</a>.`,
      )
    : emptyState('No such functions.', 'The source code of this contract has none.')

/** Functions that read, each with a form; the node runs them on the newest block. */
export const readTab = async (
  context: PageContext,
  view: ContractView,
  request: ExplorerPageRequest,
): Promise<Html> => {
  const groups = functionGroups(view, true)
  if (groups.length === 0) return card('Read contract', noFunctions(view))
  const answers = await answersOf(
    context,
    view,
    groups.flatMap(({ functions }) => functions),
    request,
  )
  const groupCard = ({ title, functions }: FunctionGroup): Html =>
    card(
      title,
      html`<ol class="functions">${functions.map(entry => functionItem(entry, answers.get(entry.selector), request))}</ol>`,
      'answered by this node, on the newest block',
    )
  return html`${groups.map(groupCard)}`
}
