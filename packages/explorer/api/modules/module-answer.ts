import type { Hex } from '@tandem/base/bytes.ts'
import { CodedError, isCoded } from '@tandem/base/errors.ts'
import type { ListRange, PageRequest } from '../../store/index-query.ts'
import type { ApiContext } from '../api-route.ts'

export interface ModuleAnswer {
  readonly status: '0' | '1'
  readonly message: string
  readonly result: unknown
}

/** Parameters of query and body, by lower-case name. */
export type Parameters = ReadonlyMap<string, string>

export type ModuleActions = Readonly<
  Record<string, (context: ApiContext, parameters: Parameters, client: string) => Promise<ModuleAnswer>>
>

type ModuleRefusal = { readonly code: 'MODULE_REFUSAL'; readonly message: string }

export const moduleSuccess = (result: unknown): ModuleAnswer => ({ status: '1', message: 'OK', result })
export const moduleFailure = (result: string): ModuleAnswer => ({ status: '0', message: 'NOTOK', result })

/** Is a request one of these tools, which read errors in this form too? */
export const isModuleCall = (url: string): boolean => url === '/api' || url.startsWith('/api?')
export const moduleError = (result: string): string => JSON.stringify(moduleFailure(result))

/** Response with a list; an empty list has the message that tools expect. */
export const moduleList = (items: readonly unknown[], empty: string): ModuleAnswer =>
  items.length === 0 ? { status: '0', message: empty, result: [] } : moduleSuccess(items)

export const refuseModule = (message: string): CodedError<ModuleRefusal> =>
  new CodedError<ModuleRefusal>({ code: 'MODULE_REFUSAL', message })

export const isModuleFailure = (error: unknown): error is CodedError<ModuleRefusal> =>
  isCoded(error) && error.code === 'MODULE_REFUSAL'

/** An address with or without 0x, in any case. */
export const addressParameter = (parameters: Parameters, name: string): Hex => {
  const text = parameters.get(name)?.toLowerCase() ?? ''
  const digits = text.startsWith('0x') ? text.slice(2) : text
  if (!/^[0-9a-f]{40}$/.test(digits)) throw refuseModule('Error! Invalid address format')
  return `0x${digits}`
}

export const optionalAddress = (parameters: Parameters, name: string): Hex | undefined =>
  (parameters.get(name) ?? '') === '' ? undefined : addressParameter(parameters, name)

export const hashParameter = (parameters: Parameters, name: string): Hex => {
  const text = parameters.get(name)?.toLowerCase() ?? ''
  if (!/^0x[0-9a-f]{64}$/.test(text)) throw refuseModule('Error! Invalid transaction hash')
  return text as Hex
}

/** A whole number, decimal; a parameter that is missing or empty is `otherwise`. */
export const integerParameter = (parameters: Parameters, name: string, otherwise: number): number => {
  const text = parameters.get(name) ?? ''
  if (text === '') return otherwise
  if (!/^[0-9]{1,15}$/.test(text)) throw refuseModule(`Error! Invalid ${name}`)
  return Number(text)
}

const MAX_PAGE = 1_000
const MAX_RESULTS = 100_000

const pageLength = (parameters: Parameters): number => Math.max(1, integerParameter(parameters, 'offset', MAX_PAGE))

/** `page` and `offset` (which is the length of a page) as these tools have them; at most MAX_PAGE rows, in `order` unless `sort` says otherwise. */
export const modulePage = (parameters: Parameters, order: 'asc' | 'desc' = 'asc'): PageRequest => {
  const page = Math.max(1, integerParameter(parameters, 'page', 1))
  const length = pageLength(parameters)
  const offset = (page - 1) * length
  if (offset > MAX_RESULTS)
    throw refuseModule('Result window is too large, PageNo x Offset size must be less than or equal to 100000')
  const ascending = (parameters.get('sort')?.toLowerCase() || order) === 'asc'
  return { limit: Math.min(MAX_PAGE, length), offset, after: null, ascending }
}

/** Rows of a page. Throws MODULE_REFUSAL where a longer page was asked for and there are more: tools take a short page for the last one. */
export const wholePage = <T>(
  parameters: Parameters,
  { items, next }: { readonly items: readonly T[]; readonly next: unknown },
): readonly T[] => {
  if (next !== null && pageLength(parameters) > MAX_PAGE)
    throw refuseModule(`Result window is too large: a page has at most ${MAX_PAGE} records; take offset=${MAX_PAGE}`)
  return items
}

/** Number of a block: decimal, or `latest`, which is the head. */
export const blockParameter = async (
  { source }: Pick<ApiContext, 'source'>,
  parameters: Parameters,
  name: string,
  otherwise: number,
): Promise<number> =>
  parameters.get(name)?.toLowerCase() === 'latest'
    ? ((await source.headNumber()) ?? 0)
    : integerParameter(parameters, name, otherwise)

/** `startblock` and `endblock`, both included. */
export const blockRange = async (context: Pick<ApiContext, 'source'>, parameters: Parameters): Promise<ListRange> => ({
  fromBlock: await blockParameter(context, parameters, 'startblock', 0),
  toBlock: await blockParameter(context, parameters, 'endblock', Number.MAX_SAFE_INTEGER),
})
