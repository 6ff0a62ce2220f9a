import { invalidParameter } from '../api/api-error.ts'
import type { ExplorerPageRequest } from './page-route.ts'

const CURSOR = /^[A-Za-z0-9_-]{0,256}$/

/** Parameters of a list as the API takes them: the cursor alone, since pages have a fixed length. Throws INVALID_PARAMETER. */
export const listQuery = ({ query }: ExplorerPageRequest): { readonly cursor?: string } => {
  const cursor = query['cursor']
  if (cursor === undefined) return {}
  if (!CURSOR.test(cursor))
    throw invalidParameter('cursor', 'This page of the list does not exist; begin with its first page.')
  return { cursor }
}
