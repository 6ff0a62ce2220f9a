/** Services of a node that have pages, and the names that every page shows. */
export interface Site {
  /** Name of the network: devnet, mainnet. */
  readonly network: string
  readonly symbol: string
  readonly version: string
  /** Address of the explorer's pages, to which wallets append /tx/..., /address/... (EIP-3091); absent: there is none. */
  readonly explorerUrl?: string
  readonly faucet: boolean
  /** Returns true for a chain without council, rewards and proof chain. */
  readonly isPlain?: boolean
  /** URL of JSON-RPC for wallets, or `RPC_PATH` on a node; absent: none is known. */
  readonly rpcUrl?: string
}

export interface SiteLink {
  readonly href: string
  readonly label: string
}

/** Path at which a node serves JSON-RPC beside its pages. */
export const RPC_PATH = '/'
/** Path below which an explorer serves its pages. */
export const EXPLORER_PATH = '/explorer'
export const FAUCET_PATH = '/faucet'

const EXPLORER_PAGES = [
  { path: '', label: 'Explorer' },
  { path: '/blocks', label: 'Blocks' },
  { path: '/txs', label: 'Transactions' },
  { path: '/tokens', label: 'Tokens' },
  { path: '/accounts', label: 'Accounts' },
  { path: '/validators', label: 'Validators', isPlain: false },
  { path: '/mining', label: 'Mining', isPlain: false },
  { path: '/supply', label: 'Supply', isPlain: false },
  { path: '/stats', label: 'Statistics' },
  { path: '/gas', label: 'Gas' },
  { path: '/network', label: 'Network' },
] as const

const explorerLinks = (url: string, isPlain: boolean): readonly SiteLink[] =>
  EXPLORER_PAGES.filter(page => !(isPlain && 'isPlain' in page)).map(({ path, label }) => ({ href: url + path, label }))

/** Links of the navigation, which is the same on every page of a node. */
export const siteLinks = ({ explorerUrl, faucet, isPlain = false }: Site): readonly SiteLink[] => [
  ...(explorerUrl === undefined ? [] : explorerLinks(explorerUrl, isPlain)),
  ...(faucet ? [{ href: FAUCET_PATH, label: 'Faucet' }] : []),
]
