import type { PageRoute } from './page-route.ts'
import { addressPages } from './routes/addresses.ts'
import { apiPages } from './routes/api-docs.ts'
import { blockPages } from './routes/blocks.ts'
import { exportPages } from './routes/exports.ts'
import { gasPages } from './routes/gas.ts'
import { homeRoutes } from './routes/home.ts'
import { miningPages } from './routes/mining.ts'
import { networkPages } from './routes/network.ts'
import { searchPages } from './routes/search.ts'
import { statsPages } from './routes/stats.ts'
import { supplyPages } from './routes/supply.ts'
import { tokenPages } from './routes/tokens.ts'
import { transactionPages } from './routes/transactions.ts'
import { validatorPages } from './routes/validators.ts'
import { verifyPages } from './routes/verify.ts'

/** Every page of the explorer. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  ...homeRoutes,
  ...blockPages,
  ...transactionPages,
  ...addressPages,
  ...tokenPages,
  ...searchPages,
  ...validatorPages,
  ...miningPages,
  ...supplyPages,
  ...statsPages,
  ...gasPages,
  ...networkPages,
  ...verifyPages,
  ...exportPages,
  ...apiPages,
]
