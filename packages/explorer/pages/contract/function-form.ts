import { type Fragment, type Html, html } from '@tandem/web/html.ts'
import { plainText } from '../../chain/plain-text.ts'
import type { AbiType, ContractFunction } from '../../verification/abi/abi-types.ts'
import type { AbiValue } from '../../verification/abi/abi-values.ts'
import { argumentProblem, parseArgument } from '../../verification/abi/argument-text.ts'
import type { ExplorerPageRequest } from '../page-route.ts'
import { nameText } from '../parts/links.ts'

/** Name of the field of an argument. */
const fieldOf = (index: number): string => `a${index}`

/** Arguments of a form: those that were read, and what is wrong with the others. */
interface FormArguments {
  readonly values: readonly AbiValue[]
  /** By index; empty when every argument was read. */
  readonly problems: ReadonlyMap<number, string>
}

/** Reads the arguments that a form sent for a function. */
export const argumentsOf = ({ inputs }: ContractFunction, { query }: ExplorerPageRequest): FormArguments => {
  const problems = new Map<number, string>()
  const values = inputs.map(({ type }, index) => {
    try {
      return parseArgument(type, query[fieldOf(index)] ?? '')
    } catch (error) {
      const problem = argumentProblem(error)
      if (problem === undefined) throw error
      problems.set(index, problem)
      return ''
    }
  })
  return { values, problems }
}

/** True: a form was sent for this function. */
export const isAskedFor = ({ selector }: ContractFunction, { query }: ExplorerPageRequest): boolean =>
  query['f'] === selector

const HINTS: Readonly<Record<AbiType['kind'], string>> = {
  word: '',
  bytes: '0x and hex digits',
  string: 'any text',
  array: 'a JSON array, as [1, 2]',
  tuple: 'a JSON array with an entry for each part',
}

interface FieldOptions {
  readonly id: string
  readonly name: string
  readonly label: Fragment
  readonly hint: string
  readonly value: string
  readonly problem: string | undefined
}

/** Input with its label, its hint and what is wrong with it. */
export const inputField = ({ id, name, label, hint, value, problem }: FieldOptions): Html => {
  const describedBy = [hint !== '' && `${id}-hint`, problem !== undefined && `${id}-problem`].filter(Boolean).join(' ')
  const described = describedBy === '' ? false : html` aria-describedby="${describedBy}"`
  return html`
<div class="field"><label for="${id}">${label}</label>
<input id="${id}" name="${name}" type="text" value="${value}" autocomplete="off" autocapitalize="off" spellcheck="false"${described}${problem !== undefined && html` aria-invalid="true"`}>
${hint !== '' && html`<small id="${id}-hint">${hint}</small>`}
${problem !== undefined && html`<p class="problem" id="${id}-problem">${problem}</p>`}</div>`
}

interface FunctionFormOptions {
  readonly request: ExplorerPageRequest
  readonly tab: string
  readonly button: string
  readonly problems: ReadonlyMap<number, string>
  /** Fields after the arguments. */
  readonly more?: Fragment
}

/** Form of a function: it is sent as the address of a page, so that it works without script and can be linked to. */
export const functionForm = (entry: ContractFunction, options: FunctionFormOptions): Html => {
  const { request, tab, button, problems, more } = options
  const { selector, inputs } = entry
  const isAsked = isAskedFor(entry, request)
  return html`
<form class="call" method="get" action="${request.path}#f-${selector}">
<input type="hidden" name="tab" value="${tab}"><input type="hidden" name="f" value="${selector}">
${inputs.map(({ name, text, type }, index) =>
  inputField({
    id: `a-${selector}-${index}`,
    name: fieldOf(index),
    label: html`${nameText(name, `argument ${index + 1}`)} <small>${text.slice(0, TYPE_CHARS)}</small>`,
    hint: HINTS[type.kind],
    value: isAsked ? (request.query[fieldOf(index)] ?? '') : '',
    problem: isAsked ? problems.get(index) : undefined,
  }),
)}
${more}
<div><button type="submit" class="plain">${button}</button></div>
</form>`
}

const TYPE_CHARS = 120
const NAME_CHARS = 64

/** Name and parameters of a function, as its declaration has them. */
export const functionTitle = ({ name, inputs, mutability }: ContractFunction): Html => html`
<h3>${nameText(name, 'no name')}<small>(${inputs
  .map(input => `${input.text} ${plainText(input.name, NAME_CHARS) ?? ''}`.trimEnd())
  .join(', ')
  .slice(0, 2 * TYPE_CHARS)})</small>${mutability === 'payable' && html` <span class="chip proof">payable</span>`}</h3>`
