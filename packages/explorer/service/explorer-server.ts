import { type PageServer, startPageServer } from '@tandem/web/page-server.ts'
import { EXPLORER_PATH, type Site } from '@tandem/web/site.ts'
import { EXPLORER_LIMITS } from '../limits.ts'
import { addExplorerRoutes, type ExplorerHttpOptions } from './explorer-http.ts'
import { healthBody, type IndexerHealth } from './indexer-health.ts'
import type { LiveStream } from './live-stream.ts'
import { addPageRoutes } from './pages-http.ts'

interface ExplorerServerOptions extends ExplorerHttpOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly site: Site
  readonly live: LiveStream
  /** State of the index. */
  readonly health: () => IndexerHealth
}

/** Serves API and pages of the explorer on a port of its own. Rejects when the port is taken. */
export const startExplorerServer = ({ host, port, ...options }: ExplorerServerOptions): Promise<PageServer> =>
  startPageServer(
    {
      ...EXPLORER_LIMITS.http,
      bodyBytes: EXPLORER_LIMITS.verification.bodyBytes,
      host,
      port,
      home: EXPLORER_PATH,
      health: () => healthBody(options.health(), Date.now()),
    },
    app => {
      addExplorerRoutes(app, options)
      addPageRoutes(app, options)
    },
  )
