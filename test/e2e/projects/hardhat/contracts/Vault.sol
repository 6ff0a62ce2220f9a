// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Linked, not inlined: ignition must deploy it first and put its address into the vault's code.
library Shares {
    function forDeposit(uint256 amount, uint256 held, uint256 issued) external pure returns (uint256) {
        return issued == 0 ? amount : amount * issued / held;
    }
}

/// Holds native tokens for shares.
contract Vault {
    using Shares for uint256;

    address public immutable owner;
    uint256 public immutable minimum;
    uint256 public issued;
    bool public open;
    mapping(address => uint256) public sharesOf;

    event Opened(address indexed by);
    event Deposited(address indexed by, uint256 amount, uint256 shares);

    error Closed();
    error TooLittle(uint256 amount, uint256 minimum);

    constructor(uint256 minimum_) payable {
        owner = msg.sender;
        minimum = minimum_;
    }

    function openDoors() external {
        require(msg.sender == owner, "only the owner");
        open = true;
        emit Opened(msg.sender);
    }

    function deposit() external payable returns (uint256 shares) {
        if (!open) revert Closed();
        if (msg.value < minimum) revert TooLittle(msg.value, minimum);
        shares = msg.value.forDeposit(address(this).balance - msg.value, issued);
        issued += shares;
        sharesOf[msg.sender] += shares;
        emit Deposited(msg.sender, msg.value, shares);
    }
}
