import { LOCALNET_LIMITS } from '../../config/limits/commands.ts'
import { TEST_MNEMONIC } from '../../devnet/accounts.ts'

/** Settings that define a localnet's chain; stored with it, so that a second start needs no option. */
export interface LocalnetSettings {
  readonly validators: number
  /** Seconds; 0: a block at once per transaction. */
  readonly blockTime: number
  readonly accounts: number
  readonly balanceWei: bigint
  readonly mnemonic: string
  readonly chainId: number
}

const FORMAT = 'tandem-localnet/1'

export const DEFAULT_SETTINGS: LocalnetSettings = {
  validators: 4,
  blockTime: 1,
  accounts: 10,
  balanceWei: 10_000n * 10n ** 18n,
  mnemonic: TEST_MNEMONIC,
  chainId: 1_998_999,
}

/** Options of the settings on the command line. */
const OPTIONS: Readonly<Record<keyof LocalnetSettings, string>> = {
  validators: '--validators',
  blockTime: '--block-time',
  accounts: '--accounts',
  balanceWei: '--balance',
  mnemonic: '--mnemonic',
  chainId: '--chain-id',
}

/** Returns the settings of the existing chain; an option that differs is an error rather than ignored. */
export const resolveSettings = (
  given: Partial<LocalnetSettings>,
  kept: LocalnetSettings | undefined,
  folder: string,
): LocalnetSettings => {
  if (kept === undefined) return { ...DEFAULT_SETTINGS, ...given }
  for (const [name, option] of Object.entries(OPTIONS) as [keyof LocalnetSettings, string][]) {
    if (given[name] === undefined || given[name] === kept[name]) continue
    throw new Error(
      `${folder} holds a localnet that was made with another ${option}. Leave the option out, or choose another --datadir.`,
    )
  }
  return kept
}

export const settingsText = ({ balanceWei, ...rest }: LocalnetSettings): string =>
  `${JSON.stringify({ format: FORMAT, ...rest, balanceWei: balanceWei.toString() }, null, 2)}\n`

/** Throws an Error that names the file. */
export const parseSettings = (text: string, file: string): LocalnetSettings => {
  const localnetSettings = readShape(text)
  if (localnetSettings === undefined) throw new Error(`${file} is damaged. Restore it, or choose another --datadir.`)
  return localnetSettings
}

const readShape = (text: string): LocalnetSettings | undefined => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { format, validators, blockTime, accounts, balanceWei, mnemonic, chainId } = value as Record<string, unknown>
  if (format !== FORMAT || typeof mnemonic !== 'string' || typeof blockTime !== 'number') return undefined
  if (typeof balanceWei !== 'string' || !/^\d{1,40}$/.test(balanceWei)) return undefined
  if (!isCount(validators, LOCALNET_LIMITS.validators) || !isCount(accounts, LOCALNET_LIMITS.accounts)) return undefined
  if (!isCount(chainId, Number.MAX_SAFE_INTEGER)) return undefined
  return { validators, blockTime, accounts, balanceWei: BigInt(balanceWei), mnemonic, chainId }
}

const isCount = (value: unknown, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= most
