import { parseGethGenesis } from './genesis/geth-format.ts'
import { GenesisValue } from './genesis/json-reader.ts'
import { parseTandemGenesis, TANDEM_FORMAT } from './genesis/tandem-format.ts'
import type { Genesis } from './genesis/types.ts'

export type {
  CouncilMember,
  Genesis,
  GenesisAccount,
  GenesisError,
  GenesisHeaderFields,
  GenesisStyle,
  TimeFork,
} from './genesis/types.ts'

/** Parses the text of a genesis file: Tandem's own format or geth's. Throws CodedError<GenesisError>. */
export const parseGenesis = (text: string): Genesis => {
  const root = GenesisValue.fromText(text)
  if (root.has('format')) return parseTandemGenesis(root)
  if (root.has('config')) return parseGethGenesis(root)
  return root.fail(`neither Tandem's format (give "format": "${TANDEM_FORMAT}") nor geth's (which has "config")`)
}
