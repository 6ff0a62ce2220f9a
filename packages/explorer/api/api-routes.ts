import type { ApiRoute } from './api-route.ts'
import { addressRoutes } from './routes/addresses.ts'
import { blockRoutes } from './routes/blocks.ts'
import { internalTransferRoutes } from './routes/internal-transfers.ts'
import { miningRoutes } from './routes/mining.ts'
import { networkRoutes } from './routes/network.ts'
import { rewardRoutes } from './routes/rewards.ts'
import { sourcifyRoutes } from './routes/sourcify.ts'
import { statisticsRoutes } from './routes/statistics.ts'
import { tokenRoutes } from './routes/tokens.ts'
import { transactionRoutes } from './routes/transactions.ts'
import { verificationRoutes } from './routes/verification.ts'

/** Every endpoint of the REST API; the server and the OpenAPI document follow from the list. */
export const API_ROUTES: readonly ApiRoute[] = [
  ...networkRoutes,
  ...miningRoutes,
  ...blockRoutes,
  ...transactionRoutes,
  ...addressRoutes,
  ...rewardRoutes,
  ...internalTransferRoutes,
  ...tokenRoutes,
  ...statisticsRoutes,
  ...verificationRoutes,
  ...sourcifyRoutes,
]
