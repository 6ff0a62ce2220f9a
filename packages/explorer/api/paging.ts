import { EXPLORER_LIMITS } from '../limits.ts'
import type { Page, PageKey, PageRequest } from '../store/index-query.ts'
import { invalidParameter } from './api-error.ts'
import { type ApiSchema, INTEGER, TEXT } from './json-schema.ts'

const { defaultLimit, maxLimit, maxOffset } = EXPLORER_LIMITS.api

/** Query parameters of every list. */
export const PAGE_QUERY: Readonly<Record<string, ApiSchema>> = {
  limit: { ...INTEGER, minimum: 1, maximum: maxLimit, default: defaultLimit, description: 'Items of the page' },
  offset: { ...INTEGER, minimum: 0, maximum: maxOffset, default: 0, description: 'Items to leave out before it' },
  cursor: {
    ...TEXT,
    maxLength: 256,
    pattern: '^[A-Za-z0-9_-]*$',
    description: '`nextCursor` of the page before: goes before offset, and stands still while blocks arrive',
  },
}

/** Kind of each part of a list's key. */
type KeyShape = readonly ('number' | 'address' | 'decimal')[]

const PARTS: Readonly<Record<KeyShape[number], (value: unknown) => boolean>> = {
  number: value => Number.isSafeInteger(value) && (value as number) >= 0,
  address: value => typeof value === 'string' && /^0x[0-9a-f]{40}$/.test(value),
  decimal: value => typeof value === 'string' && /^[0-9]{1,90}$/.test(value),
}

const encodeCursor = (key: PageKey): string => Buffer.from(JSON.stringify(key)).toString('base64url')

const decodeCursor = (cursor: string, shape: KeyShape): PageKey => {
  try {
    const key = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown
    const fits = Array.isArray(key) && key.length === shape.length
    if (fits && shape.every((part, index) => PARTS[part](key[index]))) return key as unknown as PageKey
  } catch {
    // Refused below, as any other text that is no key.
  }
  throw invalidParameter('cursor', 'cursor: not one of this list; take nextCursor of the page before')
}

/** The page that a request asks for. Throws INVALID_PARAMETER. */
export const pageRequest = (query: Readonly<Record<string, unknown>>, shape: KeyShape): PageRequest => {
  const { limit = defaultLimit, offset = 0, cursor } = query as { limit?: number; offset?: number; cursor?: string }
  return { limit, offset, after: cursor === undefined || cursor === '' ? null : decodeCursor(cursor, shape) }
}

/** Body of every list. */
export interface ListBody<T> {
  readonly items: readonly T[]
  /** null: no running sum has it. */
  readonly total: number | null
  readonly limit: number
  readonly offset: number
  readonly nextCursor: string | null
}

/** Query of a list, as far as callers inside the node give it. */
export type ListQuery = Readonly<Record<string, unknown>>

/** A page as every list answers it. */
export const pageBody = <T>(
  page: Page<unknown>,
  items: readonly T[],
  request: PageRequest,
  total: number | null,
): ListBody<T> => ({
  items,
  total,
  limit: request.limit,
  offset: request.after === null ? request.offset : 0,
  nextCursor: page.next === null ? null : encodeCursor(page.next),
})
