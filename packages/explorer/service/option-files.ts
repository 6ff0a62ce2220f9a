import { readPriceConfig } from '../price/price-config.ts'
import { readCompilerHashes } from '../verification/compiler/compiler-list.ts'
import { readLabels } from './label-file.ts'
import { readKeys } from './request-limiter.ts'

/** Readers of what options of the command line name, by option: they throw for what the explorer could not use. */
export const READERS = {
  explorerKeys: readKeys,
  explorerLabels: readLabels,
  explorerPrice: readPriceConfig,
  solcDir: readCompilerHashes,
}
