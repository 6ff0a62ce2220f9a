import { parseGethGenesis } from './geth-format.ts'
import { GenesisValue } from './json-reader.ts'
import { parseTandemGenesis, TANDEM_FORMAT } from './tandem-format.ts'
import type { Genesis } from './types.ts'

export type {
  CouncilMember,
  Genesis,
  GenesisAccount,
  GenesisError,
  GenesisStyle,
  TimeFork,
} from './types.ts'

/** Parses the text of a genesis file: Tandem's own format or geth's. Throws CodedError<GenesisError>. */
export const parseGenesis = (text: string): Genesis => {
  const root = GenesisValue.fromText(text)
  if (root.has('format')) return parseTandemGenesis(root)
  if (root.has('config')) return parseGethGenesis(root)
  return root.fail(`neither Tandem's format (give "format": "${TANDEM_FORMAT}") nor geth's (which has "config")`)
}
