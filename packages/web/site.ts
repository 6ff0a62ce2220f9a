/** Services of a node that have pages, and the names that every page shows. */
export interface Site {
  /** Name of the network: devnet, mainnet. */
  readonly network: string
  readonly symbol: string
  readonly version: string
  readonly explorer: boolean
  readonly faucet: boolean
  /** URL of JSON-RPC for wallets, or `RPC_PATH` on a node; absent: none is known. */
  readonly rpcUrl?: string
}

export interface SiteLink {
  readonly href: string
  readonly label: string
}

/** Path at which a node serves JSON-RPC beside its pages. */
export const RPC_PATH = '/'
/** Path below which the pages of the explorer stand; wallets append /tx/..., /address/... (EIP-3091). */
export const EXPLORER_PATH = '/explorer'
/** Path of the parts of the explorer's home page that change, for its stream of blocks. */
export const LIVE_PARTS_PATH = `${EXPLORER_PATH}/live/parts`
/** Page whose form submits the source code of a contract. */
export const VERIFY_PATH = `${EXPLORER_PATH}/verify`
export const FAUCET_PATH = '/faucet'

const EXPLORER_LINKS: readonly SiteLink[] = [
  { href: EXPLORER_PATH, label: 'Explorer' },
  { href: `${EXPLORER_PATH}/blocks`, label: 'Blocks' },
  { href: `${EXPLORER_PATH}/txs`, label: 'Transactions' },
  { href: `${EXPLORER_PATH}/tokens`, label: 'Tokens' },
  { href: `${EXPLORER_PATH}/accounts`, label: 'Accounts' },
  { href: `${EXPLORER_PATH}/validators`, label: 'Validators' },
  { href: `${EXPLORER_PATH}/mining`, label: 'Mining' },
  { href: `${EXPLORER_PATH}/supply`, label: 'Supply' },
  { href: `${EXPLORER_PATH}/stats`, label: 'Statistics' },
  { href: `${EXPLORER_PATH}/gas`, label: 'Gas' },
  { href: `${EXPLORER_PATH}/network`, label: 'Network' },
]

/** Links of the navigation, which is the same on every page of a node. */
export const siteLinks = ({ explorer, faucet }: Site): readonly SiteLink[] => [
  ...(explorer ? EXPLORER_LINKS : []),
  ...(faucet ? [{ href: FAUCET_PATH, label: 'Faucet' }] : []),
]
