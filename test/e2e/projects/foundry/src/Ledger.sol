// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// A small token: what real clients deploy, call, watch and make fail.
contract Ledger {
    mapping(address => uint256) public balanceOf;
    uint256 public totalSupply;

    event Transfer(address indexed from, address indexed to, uint256 value);

    error InsufficientBalance(uint256 available, uint256 required);

    constructor(uint256 supply) {
        totalSupply = supply;
        balanceOf[msg.sender] = supply;
        emit Transfer(address(0), msg.sender, supply);
    }

    function transfer(address to, uint256 value) external returns (bool) {
        uint256 available = balanceOf[msg.sender];
        if (available < value) revert InsufficientBalance(available, value);
        balanceOf[msg.sender] = available - value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }

    /// Takes native tokens for new units, one for each wei.
    function buy() external payable {
        totalSupply += msg.value;
        balanceOf[msg.sender] += msg.value;
        emit Transfer(address(0), msg.sender, msg.value);
    }

    function refuse() external pure {
        revert("refused as asked");
    }

    function divide(uint256 a, uint256 b) external pure returns (uint256) {
        return a / b;
    }

    /// Whether the block it runs in knows itself: number, chain, base fee.
    function blockFacts() external view returns (uint256 number, uint256 chain, uint256 baseFee) {
        return (block.number, block.chainid, block.basefee);
    }
}
