import { type PageServer, startPageServer } from '@tandem/web/page-server.ts'
import { FAUCET_PATH } from '@tandem/web/site.ts'
import { FAUCET_LIMITS } from '../../config/limits/faucet.ts'
import { addFaucetRoutes, type FaucetHttpOptions } from './faucet-http.ts'

interface FaucetServerOptions extends FaucetHttpOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
}

/** Serves the faucet on a port of its own. Rejects when the port is taken. */
export const startFaucetServer = ({ host, port, ...options }: FaucetServerOptions): Promise<PageServer> =>
  startPageServer({ ...FAUCET_LIMITS.http, host, port, home: FAUCET_PATH, health: () => ({ healthy: true }) }, app =>
    addFaucetRoutes(app, options),
  )
