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
