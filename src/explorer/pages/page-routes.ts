import type { PageRoute } from './page-route.ts'
import { addressPages } from './routes/addresses.ts'
import { blockPages } from './routes/blocks.ts'
import { homeRoutes } from './routes/home.ts'
import { searchPages } from './routes/search.ts'
import { tokenPages } from './routes/tokens.ts'
import { transactionPages } from './routes/transactions.ts'

/** Every page of the explorer. */
export const PAGE_ROUTES: readonly PageRoute[] = [
  ...homeRoutes,
  ...blockPages,
  ...transactionPages,
  ...addressPages,
  ...tokenPages,
  ...searchPages,
]
