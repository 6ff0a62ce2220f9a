/** Errors of common libraries and of ERC-4337, for contracts whose ABI is not known. */
const COMMON_ERRORS = `
ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)
ERC20InvalidSender(address sender)
ERC20InvalidReceiver(address receiver)
ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)
ERC20InvalidApprover(address approver)
ERC20InvalidSpender(address spender)
ERC721InvalidOwner(address owner)
ERC721NonexistentToken(uint256 tokenId)
ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)
ERC721InsufficientApproval(address operator, uint256 tokenId)
ERC1155InsufficientBalance(address sender, uint256 balance, uint256 needed, uint256 tokenId)
ERC1155MissingApprovalForAll(address operator, address owner)
OwnableUnauthorizedAccount(address account)
OwnableInvalidOwner(address owner)
AccessControlUnauthorizedAccount(address account, bytes32 neededRole)
ReentrancyGuardReentrantCall()
EnforcedPause()
ExpectedPause()
InvalidInitialization()
NotInitializing()
SafeERC20FailedOperation(address token)
FailedCall()
AddressEmptyCode(address target)
InsufficientBalance(uint256 balance, uint256 needed)
FailedOp(uint256 opIndex, string reason)
FailedOpWithRevert(uint256 opIndex, string reason, bytes inner)
SignatureExpired(uint256 signatureDeadline)
AllowanceExpired(uint256 deadline)
InvalidSigner()
InvalidNonce()
`

/** Codes of `Panic(uint256)` as Solidity documents them. */
const PANICS: Readonly<Record<string, string>> = {
  0: 'generic panic',
  1: 'assert(false)',
  17: 'arithmetic underflow or overflow',
  18: 'division or modulo by zero',
  33: 'enum overflow',
  34: 'invalid encoded storage byte array accessed',
  49: 'out-of-bounds array access; popping on an empty array',
  50: 'out-of-bounds access of an array or bytesN',
  65: 'out of memory',
  81: 'uninitialized function',
}

/** Returns the text of a panic. */
export const panicText = (code: bigint): string => PANICS[String(code)] ?? `unknown panic code: 0x${code.toString(16)}`

/** Entry of an ABI. */
export interface ErrorAbi {
  readonly type: 'error'
  readonly name: string
  readonly inputs: readonly { readonly type: string; readonly name: string }[]
}

/** Returns the ABI of the errors of common libraries. */
export const commonErrorAbi = (): readonly ErrorAbi[] =>
  COMMON_ERRORS.trim()
    .split('\n')
    .map(line => {
      const [name = '', inputs = ''] = line.slice(0, -1).split('(')
      const parameters = inputs === '' ? [] : inputs.split(', ').map(input => input.split(' '))
      return { type: 'error', name, inputs: parameters.map(([type = '', label = '']) => ({ type, name: label })) }
    })
