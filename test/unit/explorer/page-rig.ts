import { silentLogger } from '@tandem/base/logger.ts'
import { Readiness } from '@tandem/explorer/api/readiness.ts'
import type { PageContext } from '@tandem/explorer/pages/page-route.ts'
import { createPageServer } from '@tandem/explorer/pages/page-server.ts'
import type { SqlReader } from '@tandem/explorer/store/sql/sql-reader.ts'
import { EXPLORER_PATH, RPC_PATH, type Site } from '@tandem/web/site.ts'
import type { InjectOptions } from 'fastify'
import { type ApiRig, withApi } from './api-rig.ts'

/** Of a node. */
export const PAGE_SITE: Site = {
  network: 'devnet',
  symbol: 'dTNDM',
  version: '1',
  explorerUrl: EXPLORER_PATH,
  faucet: false,
  rpcUrl: RPC_PATH,
}

export interface PageRig extends ApiRig {
  page(path: string, changes?: Partial<PageContext>): Promise<PageAnswer>
  /** Posts a form. */
  post(path: string, form: Readonly<Record<string, string>>): Promise<PageAnswer>
}

interface PageAnswer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, unknown>>
}

/** The pages over the chain of the API's tests; `changes` replace parts of what they read. */
export const withPages = (use: (rig: PageRig) => Promise<void>): Promise<void> =>
  withApi(async rig => {
    const ask = async (request: InjectOptions, changes: Partial<PageContext>): Promise<PageAnswer> => {
      const context = { ...rig.context, site: PAGE_SITE, ...changes }
      const app = createPageServer({ context, readiness: new Readiness(context), logger: silentLogger })
      try {
        const response = await app.inject(request)
        return { status: response.statusCode, text: response.body, headers: response.headers }
      } finally {
        await app.close()
      }
    }
    await use({
      ...rig,
      page: (path, changes = {}) => ask({ url: path }, changes),
      post: (path, form) =>
        ask(
          {
            method: 'POST',
            url: path,
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
            payload: new URLSearchParams(form).toString(),
          },
          {},
        ),
    })
  })

/** An index with some of its reads replaced. */
export const indexWith = (index: SqlReader, changes: Partial<SqlReader>): SqlReader =>
  new Proxy(index, {
    get(target, name) {
      const changed = changes[name as keyof SqlReader]
      if (changed !== undefined) return changed
      const value = Reflect.get(target, name) as unknown
      // Bound to the index itself, whose private parts no other object has.
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
