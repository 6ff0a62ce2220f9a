import { bytesToHex, type Hex } from '@tandem/base/bytes.ts'
import type { Log } from '../../chain/types.ts'
import { keccak256Hex } from '../../keccak.ts'
import { decodeCallByAbi, decodeLogByAbi } from './decoded-call.ts'

/* Functions and events of common standards, for contracts that are not verified. Such a name is likely and not proven. */

const FUNCTIONS = `
transfer(address to, uint256 value)
transferFrom(address from, address to, uint256 value)
approve(address spender, uint256 value)
increaseAllowance(address spender, uint256 added)
decreaseAllowance(address spender, uint256 subtracted)
permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
mint(address to, uint256 value)
mint(uint256 value)
mint(address to)
mint()
burn(uint256 value)
burnFrom(address from, uint256 value)
safeMint(address to, uint256 id)
safeTransferFrom(address from, address to, uint256 id)
safeTransferFrom(address from, address to, uint256 id, bytes data)
safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)
safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)
setApprovalForAll(address operator, bool approved)
deposit()
deposit(uint256 assets)
deposit(uint256 assets, address receiver)
withdraw(uint256 value)
withdraw()
withdraw(uint256 assets, address receiver, address owner)
redeem(uint256 shares, address receiver, address owner)
stake(uint256 value)
stake()
unstake(uint256 value)
claim()
claim(uint256 id)
getReward()
exit()
multicall(bytes[] calls)
multicall(uint256 deadline, bytes[] calls)
aggregate3((address,bool,bytes)[] calls)
execute(bytes commands, bytes[] inputs, uint256 deadline)
execute(address target, uint256 value, bytes data)
swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)
swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline)
swapExactETHForTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline)
swapETHForExactTokens(uint256 amountOut, address[] path, address to, uint256 deadline)
swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)
swapTokensForExactETH(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline)
addLiquidity(address tokenA, address tokenB, uint256 desiredA, uint256 desiredB, uint256 minA, uint256 minB, address to, uint256 deadline)
addLiquidityETH(address token, uint256 desired, uint256 minToken, uint256 minETH, address to, uint256 deadline)
removeLiquidity(address tokenA, address tokenB, uint256 liquidity, uint256 minA, uint256 minB, address to, uint256 deadline)
removeLiquidityETH(address token, uint256 liquidity, uint256 minToken, uint256 minETH, address to, uint256 deadline)
createPair(address tokenA, address tokenB)
sync()
skim(address to)
initialize()
initialize(address owner)
upgradeTo(address implementation)
upgradeToAndCall(address implementation, bytes data)
changeAdmin(address admin)
transferOwnership(address owner)
acceptOwnership()
renounceOwnership()
grantRole(bytes32 role, address account)
revokeRole(bytes32 role, address account)
renounceRole(bytes32 role, address account)
pause()
unpause()
delegate(address delegatee)
castVote(uint256 proposal, uint8 support)
queue(uint256 proposal)
execute(uint256 proposal)
setNumber(uint256 number)
increment()
`

const EVENTS = `
Transfer(address indexed from, address indexed to, uint256 value)
Transfer(address indexed from, address indexed to, uint256 indexed id)
Approval(address indexed owner, address indexed spender, uint256 value)
Approval(address indexed owner, address indexed approved, uint256 indexed id)
ApprovalForAll(address indexed owner, address indexed operator, bool approved)
TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)
TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)
URI(string value, uint256 indexed id)
Deposit(address indexed to, uint256 value)
Withdrawal(address indexed from, uint256 value)
Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)
Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)
OwnershipTransferred(address indexed previous, address indexed next)
RoleGranted(bytes32 indexed role, address indexed account, address indexed sender)
RoleRevoked(bytes32 indexed role, address indexed account, address indexed sender)
Paused(address account)
Unpaused(address account)
Initialized(uint64 version)
Upgraded(address indexed implementation)
AdminChanged(address previous, address next)
BeaconUpgraded(address indexed beacon)
PairCreated(address indexed token0, address indexed token1, address pair, uint256 count)
Sync(uint112 reserve0, uint112 reserve1)
Mint(address indexed sender, uint256 amount0, uint256 amount1)
Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)
Swap(address indexed sender, uint256 in0, uint256 in1, uint256 out0, uint256 out1, address indexed to)
AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt)
`

interface KnownEntry {
  readonly name: string
  readonly abi: readonly object[]
}

const TUPLE_ARRAY = '(address,bool,bytes)[]'

/** Entry of an ABI from a line as above. */
const entryOf = (
  line: string,
  type: 'function' | 'event',
): { readonly signature: string; readonly entry: KnownEntry } => {
  const at = line.indexOf('(')
  const name = line.slice(0, at)
  const inner = line.slice(at + 1, -1).replace(TUPLE_ARRAY, 'tuple[]')
  const inputs = inner === '' ? [] : inner.split(', ').map(parameterOf)
  const types = inputs.map(input => (input.type === 'tuple[]' ? TUPLE_ARRAY : input.type))
  return { signature: `${name}(${types.join(',')})`, entry: { name, abi: [{ type, name, inputs }] } }
}

const parameterOf = (text: string) => {
  const [type = '', ...words] = text.split(' ')
  const components = ['address', 'bool', 'bytes'].map(item => ({ name: '', type: item }))
  return {
    type,
    name: words.at(-1) ?? '',
    indexed: words[0] === 'indexed',
    ...(type === 'tuple[]' && { components }),
  }
}

const linesOf = (text: string): readonly string[] => text.trim().split('\n')
const SELECTOR_CHARACTERS = 10

const functions = new Map(
  linesOf(FUNCTIONS).map(line => {
    const { signature, entry } = entryOf(line, 'function')
    return [keccak256Hex(signature).slice(0, SELECTOR_CHARACTERS), entry]
  }),
)

/** Events of one hash may differ in what is indexed. */
const events = new Map<string, KnownEntry[]>()
for (const line of linesOf(EVENTS)) {
  const { signature, entry } = entryOf(line, 'event')
  const hash = keccak256Hex(signature)
  events.set(hash, [...(events.get(hash) ?? []), entry])
}

/** Name of a common function by its selector. */
export const knownFunctionName = (selector: Hex | null): string | null =>
  selector === null ? null : (functions.get(selector)?.name ?? null)

/** Decodes calldata of a common function; undefined for others. */
export const decodeKnownCall = (data: Uint8Array): ReturnType<typeof decodeCallByAbi> => {
  const entry = functions.get(bytesToHex(data.subarray(0, 4)))
  return entry && decodeCallByAbi(entry.abi, data)
}

/** Decodes a common event; undefined for others. */
export const decodeKnownLog = (log: Pick<Log, 'topics' | 'data'>): ReturnType<typeof decodeLogByAbi> => {
  for (const { abi } of events.get(log.topics[0] ?? '') ?? []) {
    const decoded = decodeLogByAbi(abi, log)
    if (decoded !== undefined) return decoded
  }
  return undefined
}
