import type { Hex } from '@tandem/base/bytes.ts'
import { checksumAddress } from '../../keccak.ts'
import { EXPLORER_LIMITS } from '../../limits.ts'
import type { SearchRow } from '../../store/index-query.ts'
import type { ApiContext } from '../api-route.ts'

const { searchChars, searchResults } = EXPLORER_LIMITS.api

/** One result; the key that names it depends on its type. */
export interface SearchHit {
  readonly type: 'token' | 'label' | 'address' | 'transaction' | 'block'
  readonly address?: string
  readonly hash?: string
  readonly number?: number
  readonly name: string | null
  readonly symbol: string | null
  readonly verified: boolean
  /** 1: the text names it exactly. */
  readonly score: number
}

/** The text of a search, without the spaces around it; undefined when it is empty, too long or not well formed. */
export const searchText = (given: string): string | undefined => {
  const text = given.trim()
  const isUsable = text !== '' && [...text].length <= searchChars && !/\p{Surrogate}/u.test(text)
  return isUsable ? text : undefined
}

/** A text that names one thing exactly: an address, a hash or a number. */
const exactHits = async ({ index, source, verification }: ApiContext, query: string): Promise<readonly SearchHit[]> => {
  const exact = { name: null, symbol: null, verified: false, score: 1 } as const
  if (/^0x[0-9a-fA-F]{40}$/.test(query)) {
    const address = query.toLowerCase() as Hex
    const [token, label] = await Promise.all([index.token(address), index.label(address)])
    const verified = await verification.verifier.isVerified(address)
    const found = { ...exact, verified, address: checksumAddress(address), name: token?.name ?? label ?? null }
    return [{ ...found, type: token ? 'token' : 'address', symbol: token?.symbol ?? null }]
  }
  if (/^0x[0-9a-fA-F]{64}$/.test(query)) {
    const hash = query.toLowerCase() as Hex
    if ((await source.locate(hash)) !== undefined) return [{ ...exact, type: 'transaction', hash }]
    const number = await source.numberOf(hash)
    return number === undefined ? [] : [{ ...exact, type: 'block', hash, number }]
  }
  if (!/^(0|[1-9][0-9]{0,14})$/.test(query)) return []
  return Number(query) <= ((await source.headNumber()) ?? -1)
    ? [{ ...exact, type: 'block', number: Number(query) }]
    : []
}

const namedHit = async (
  { index, verification }: ApiContext,
  { address, kind }: SearchRow,
  text: string,
): Promise<SearchHit> => {
  const token = kind === 'token' ? await index.token(address) : undefined
  const name = kind === 'token' ? (token?.name ?? null) : ((await index.label(address)) ?? null)
  const symbol = token?.symbol ?? null
  const isWhole = [name, symbol].some(found => found?.toLowerCase() === text)
  const verified = await verification.verifier.isVerified(address)
  return { type: kind, address: checksumAddress(address), name, symbol, verified, score: isWhole ? 1 : 0.5 }
}

/** Results of a search: exact matches of the text, then tokens and labels that begin with it. */
export const searchBody = async (
  context: ApiContext,
  query: string,
): Promise<{ readonly query: string; readonly results: readonly SearchHit[] }> => {
  const exact = await exactHits(context, query)
  const text = query.normalize('NFC').toLowerCase()
  const rows = await context.index.search(text, searchResults)
  const named = await Promise.all(rows.map(row => namedHit(context, row, text)))
  return { query, results: [...exact, ...named].slice(0, searchResults) }
}
